// "Are we affected, and is it settled?"
import { Button } from "@mantine/core";
import { Advisories as Advisories1 } from "../../../../gen/chainguard/platform/vulnerabilities/v1/advisories_pb.ts";
import { AdvisorySearchService } from "../../../../gen/gatehouse/vulnerabilities/v1/search_pb.ts";
import { holds, outermostWith, requiredBy, useMe } from "../../api/access.ts";
import filterStyles from "../../shell/filters.module.css";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { List } from "../../shell/list.tsx";
import { Empty, PageHead } from "../../shell/look.tsx";
import { usePagedList } from "../../shell/paged-list.ts";
import { ActionButton, Code, CopyAs, Heading, Loading } from "../../shell/parts.tsx";
import { Denied } from "../../shell/states.tsx";
import { TextFilter } from "../../shell/text-filter.tsx";
import { useTexts } from "../../texts/texts.ts";
import { requestOf, useAdvisoryAddress } from "./address.ts";
import styles from "./advisories.module.css";
import { useColumns } from "./columns.tsx";
import { AdvisoryDetails } from "./details.tsx";
import { FacetChips, Facets } from "./facets.tsx";

const { searchAdvisories } = AdvisorySearchService.method;
const AddEvents = lazyPart(async () => (await import("./bulk.tsx")).AddEvents, null, "bulk");
const NewAdvisory = lazyPart(async () => (await import("./advisory-form.tsx")).NewAdvisory);

/** The list of advisories, or the selected one. */
export function Advisories() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, selected } = useAdvisoryAddress();
  if (!me) return <Loading />;
  if (!holds(me, "advisories.list", org))
    return (
      <>
        <Heading>{t("advisories.title")}</Heading>
        <Denied capabilities={requiredBy(searchAdvisories)} uid={org} />
      </>
    );
  return selected === "" ? <AllAdvisories /> : <AdvisoryDetails key={selected} uid={selected} />;
}

function AllAdvisories() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, open, change } = useAdvisoryAddress();
  const places = outermostWith(me, Advisories1.method.create, org);
  const missingToCreate = places.length > 0 ? [] : requiredBy(Advisories1.method.create);
  const list = usePagedList({
    method: searchAdvisories,
    request: requestOf(org, search),
    rowsOf: ({ results }) => results,
    order: "published desc",
    // By score, package or change the server counts through all rows before.
    hasWindow: search.order === undefined || search.order === "published",
    address: search,
    onAddress: (changes) => open("", changes),
  });
  const hasFilters = Object.keys(search).some((name) => !["page", "dialog", "event", "order"].includes(name));
  const none = { q: undefined, status: undefined, severity: undefined, package: undefined, type: undefined };
  const clear = () =>
    void open("", { ...none, component: undefined, reviewer: undefined, alias: undefined, page: undefined });
  return (
    <>
      <PageHead
        title={t("advisories.title")}
        beside={
          <span role="status" className="muted">
            {list.total !== undefined && t("advisories.results", { count: list.total })}
          </span>
        }
      >
        {hasFilters && (
          <Button variant="default" size="sm" onClick={clear}>
            {t("list.clear")}
          </Button>
        )}
        <CopyAs method={searchAdvisories} request={list.request} />
        <ActionButton
          variant="filled"
          shortcut="n"
          missing={missingToCreate}
          onClick={() => void change({ dialog: "new" })}
        >
          {t("advisories.new")}
        </ActionButton>
      </PageHead>
      <div className={filterStyles.filters}>
        <TextFilter
          label={t("advisories.search")}
          value={search.q ?? ""}
          onChange={(q) => void open("", { q, page: undefined })}
          isBare
        />
      </div>
      <div className={styles.faceted}>
        <Facets />
        <section className="stack" aria-label={t("advisories.list")}>
          <FacetChips onClear={clear} />
          <List
            id="advisories"
            label={t("advisories.list")}
            list={list}
            columns={useColumns()}
            keyOf={({ advisory }) => advisory?.uid ?? ""}
            actions={[
              {
                text: t("advisories.newEvent"),
                method: Advisories1.method.createAdvisoryEvent,
                placeOf: ({ advisory }) => advisory?.uid ?? "",
                Dialog: AddEvents,
              },
            ]}
            empty={<Empty>{hasFilters ? t("list.noMatch") : t("advisories.empty")}</Empty>}
          />
          <Exports />
        </section>
      </div>
      {search.dialog === "new" && places.length > 0 && <NewAdvisory parent={places[0] ?? org} />}
    </>
  );
}

/** Exports need a token, which browsers send with no link: they are commands. */
function Exports() {
  const { t } = useTexts();
  const { org } = useAdvisoryAddress();
  const base = `${location.origin}/gatehouse/vulnerabilities/v1/exports/${org}`;
  const lines = ["osv", "openvex", "csaf"].map(
    (format) => `curl -H "Authorization: Bearer $TOKEN" -o ${format}.json ${base}/${format}.json`,
  );
  return (
    <details>
      <summary>{t("advisories.export")}</summary>
      <p className="muted">{t("advisories.exportHelp")}</p>
      <Code what={t("advisories.export")} text={lines.join("\n")} />
    </details>
  );
}
