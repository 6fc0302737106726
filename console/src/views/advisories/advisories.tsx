// "Are we affected, and is it settled?"
import { useQuery } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { Advisories as Advisories1 } from "../../../../gen/chainguard/platform/vulnerabilities/v1/advisories_pb.ts";
import { AdvisorySearchService } from "../../../../gen/gatehouse/vulnerabilities/v1/search_pb.ts";
import { holds, outermostWith, requiredBy, useMe } from "../../api/access.ts";
import filterStyles from "../../shell/filters.module.css";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { Empty, PageHead } from "../../shell/look.tsx";
import { ActionButton, Code, CopyAs, Heading, Loading } from "../../shell/parts.tsx";
import { Denied } from "../../shell/states.tsx";
import { Pager, pageSize, pagesOf, Table } from "../../shell/table.tsx";
import { TextFilter } from "../../shell/text-filter.tsx";
import { useTexts } from "../../texts/texts.ts";
import { type AdvisorySearch, newestFirst, requestOf, useAdvisoryAddress } from "./address.ts";
import styles from "./advisories.module.css";
import { useColumns } from "./columns.tsx";
import { AdvisoryDetails } from "./details.tsx";
import { Facets } from "./facets.tsx";

const { searchAdvisories } = AdvisorySearchService.method;
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
  return selected === "" ? <List /> : <AdvisoryDetails key={selected} uid={selected} />;
}

function List() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, open, change } = useAdvisoryAddress();
  const places = outermostWith(me, Advisories1.method.create, org);
  const missingToCreate = places.length > 0 ? [] : requiredBy(Advisories1.method.create);
  const turn = (page: number | undefined) => void open("", { page });
  const orderBy = search.order ?? newestFirst;
  const request = { ...requestOf(org, search), orderBy, pageSize, skip: pagesOf(search.page, 0, turn).skip };
  const { data, error, refetch } = useQuery(searchAdvisories, request, { placeholderData: (before) => before });
  const total = Number(data?.totalCount ?? 0);
  const hasFilters = Object.keys(search).some((name) => !["page", "dialog", "event", "order"].includes(name));
  const none = { q: undefined, status: undefined, severity: undefined, package: undefined, type: undefined };
  const clear = () =>
    void open("", { ...none, component: undefined, reviewer: undefined, alias: undefined, page: undefined });
  const sort = (by: string) => void open("", { order: by as AdvisorySearch["order"], page: undefined });
  return (
    <>
      <PageHead
        title={t("advisories.title")}
        beside={
          <span role="status" className="muted">
            {data && t("advisories.results", { count: total })}
          </span>
        }
      >
        {hasFilters && (
          <Button variant="default" size="sm" onClick={clear}>
            {t("list.clear")}
          </Button>
        )}
        <CopyAs method={searchAdvisories} request={request} />
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
          <Table
            label={t("advisories.list")}
            list={{ rows: data?.results, error, onRetry: () => void refetch() }}
            columns={useColumns()}
            order={{ by: orderBy, onChange: sort }}
            keyOf={({ advisory }) => advisory?.uid ?? ""}
            empty={<Empty>{hasFilters ? t("list.noMatch") : t("advisories.empty")}</Empty>}
          />
          <Pager {...pagesOf(search.page, total, turn)} count={data?.results.length ?? 0} />
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
