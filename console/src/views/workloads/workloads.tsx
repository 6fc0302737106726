import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { IdentitiesService, type Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { IdentitySearchService } from "../../../../gen/gatehouse/iam/v1/identities_pb.ts";
import { may, missingFor, requiredBy, useMe } from "../../api/access.ts";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { Avatar, Empty, PageHead } from "../../shell/look.tsx";
import { ActionButton, CopyAs, Loading } from "../../shell/parts.tsx";
import splitStyles from "../../shell/split.module.css";
import { Denied } from "../../shell/states.tsx";
import { type Column, Pager, pageSize, pagesOf, Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useWorkloadsAddress } from "./address.ts";
import { issuerOf, subjectOf, typeOf } from "./identity-facts.ts";
import { Seen } from "./seen.tsx";
import { useWorkloadFilter, WorkloadFilters } from "./workload-filters.tsx";

const Wizard = lazyPart(async () => (await import("./wizard.tsx")).Wizard);
const WorkloadDetails = lazyPart(async () => (await import("./workload-details.tsx")).WorkloadDetails, <Loading />);

const { searchIdentities } = IdentitySearchService.method;
const { createIdentity } = IdentitiesService.method;

/** The list, and the selected identity. */
export function Workloads() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, selected, search, change, close } = useWorkloadsAddress();
  const missing = missingFor(me, createIdentity, org);
  const mayList = may(me, searchIdentities);
  const turn = (page: number | undefined) => void change({ page });
  const { filter, isFiltered, clear } = useWorkloadFilter();
  const request = { ...filter, orderBy: "name", pageSize, skip: pagesOf(search.page, 0, turn).skip };
  const { data, error, refetch } = useQuery(searchIdentities, request, { enabled: mayList });
  const { dialog: _dialog, ...kept } = search;
  const columns = useColumns(data?.roleBindingCounts ?? {});
  if (me && !mayList) return <Denied capabilities={requiredBy(searchIdentities)} uid={org} />;
  return (
    <>
      <PageHead title={t("nav.workloads")}>
        <CopyAs method={searchIdentities} request={request} />
        <ActionButton variant="filled" shortcut="n" missing={missing} onClick={() => void change({ dialog: "new" })}>
          {t("identities.new")}
        </ActionButton>
      </PageHead>
      <WorkloadFilters />
      <div className={selected === "" ? "stack" : `${splitStyles.split} ${splitStyles.even} ${splitStyles.chosen}`}>
        <section className="stack" aria-label={t("identities.workloads")}>
          <Table
            label={t("identities.workloads")}
            list={{ rows: data?.identities, error, onRetry: () => void refetch() }}
            columns={selected === "" ? columns : columns.slice(0, 2)}
            keyOf={({ uid }) => uid}
            selected={selected}
            empty={
              <Empty {...(isFiltered && { onClear: clear })}>
                {t(isFiltered ? "list.noMatch" : "identities.none")}
              </Empty>
            }
          />
          <Pager {...pagesOf(search.page, Number(data?.totalCount ?? 0), turn)} count={data?.identities.length ?? 0} />
        </section>
        {selected !== "" && (
          <div className="stack">
            <Link className={splitStyles.back} to="/o/$org/workloads/$" params={{ org, _splat: "" }} search={kept}>
              {t("identities.back")}
            </Link>
            <WorkloadDetails key={selected} uid={selected} />
          </div>
        )}
      </div>
      {search.dialog === "new" && missing.length === 0 && <Wizard onClose={() => void close()} />}
    </>
  );
}

function useColumns(counts: Readonly<Record<string, bigint>>): Column<Identity>[] {
  const { t } = useTexts();
  const {
    org,
    search: { dialog: _dialog, ...kept },
  } = useWorkloadsAddress();
  return [
    {
      title: t("identities.name"),
      cell: ({ uid, name }) => (
        <span className="who">
          <Avatar uid={uid} name={name} isWorkload />
          <Link to="/o/$org/workloads/$" params={{ org, _splat: uid }} search={kept}>
            <bdi>{name}</bdi>
          </Link>
        </span>
      ),
    },
    {
      title: t("identities.who"),
      cell: (identity) => (
        <div className="lines">
          <span>{t(`type.${typeOf(identity)}`)}</span>
          <span className="muted small">
            <bdi>{[issuerOf(identity), subjectOf(identity)].filter((text) => text !== "").join(" · ")}</bdi>
          </span>
        </div>
      ),
    },
    { title: t("identities.lastSeen"), cell: (identity) => <Seen identity={identity} /> },
    { title: t("identities.roles"), cell: ({ uid }) => counts[uid]?.toString() ?? "" },
  ];
}
