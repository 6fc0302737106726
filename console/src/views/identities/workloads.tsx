// The identities of workloads: who they are by their tokens, when they were seen, what they hold.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createQueryOptions, useQuery, useTransport } from "@connectrpc/connect-query";
import { TextInput } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import {
  IdentitiesService,
  type Identity,
  RelationshipType,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { may, missingFor, requiredBy, useMe } from "../../api/access.ts";
import { isUid } from "../../api/uids.ts";
import { useKeys } from "../../shell/keyboard.ts";
import { ActionButton, Ago, CopyAs, useDelayed } from "../../shell/parts.tsx";
import { Denied } from "../../shell/states.tsx";
import { type Column, Pager, pageSize, pagesOf, Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useIdentitiesAddress } from "./address.ts";
import { issuerOf, subjectOf, typeOf } from "./identity-facts.ts";
import type { IdentitiesSearch } from "./route.ts";
import { Wizard } from "./wizard.tsx";
import { WorkloadDetails } from "./workload-details.tsx";

const { listIdentities, createIdentity } = IdentitiesService.method;
const { listRoleBindings } = RoleBindingsService.method;

const relationships = {
  claimMatch: RelationshipType.CLAIM_MATCH,
  staticKeys: RelationshipType.STATIC,
  aws: RelationshipType.AWS_IDENTITY,
} as const;

/** The list, and the selected identity. */
export function Workloads() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, selected, search, open, show, close } = useIdentitiesAddress();
  const missing = missingFor(me, createIdentity, org);
  const mayList = may(me, listIdentities);
  const turn = (page: number | undefined) => void open(selected, { page });
  const request = {
    uidp: { descendantsOf: org },
    name: search.filter ?? "",
    relationshipType: search.type ? relationships[search.type] : RelationshipType.UNSPECIFIED,
    orderBy: "name",
    pageSize,
    skip: pagesOf(search.page, 0, turn).skip,
  };
  const { data, error, refetch } = useQuery(listIdentities, request, { enabled: mayList });
  const mayCreate = missing.length === 0;
  const keys = useMemo(
    () => ({
      "/": () => document.getElementById("identity-filter")?.focus(),
      ...(mayCreate && { n: () => void show("new") }),
    }),
    [mayCreate, show],
  );
  useKeys(keys);
  const columns = useColumns(data?.identities ?? []);
  if (me && !mayList) return <Denied capabilities={requiredBy(listIdentities)} uid={org} />;
  const isFiltered = search.filter !== undefined || search.type !== undefined;
  return (
    <>
      <div className="head">
        <Filters />
        <div className="grow" />
        <CopyAs method={listIdentities} request={request} />
        <ActionButton variant="filled" missing={missing} onClick={() => void show("new")}>
          {t("identities.new")}
        </ActionButton>
      </div>
      <div className={selected === "" ? "stack" : "split"}>
        <section className="stack" aria-label={t("identities.workloads")}>
          <Table
            label={t("identities.workloads")}
            list={{ rows: data?.identities, error, onRetry: () => void refetch() }}
            columns={selected === "" ? columns : columns.slice(0, 3)}
            keyOf={({ uid }) => uid}
            selected={selected}
            empty={<p className="notice">{t(isFiltered ? "list.noMatch" : "identities.none")}</p>}
          />
          <Pager {...pagesOf(search.page, Number(data?.totalCount ?? 0), turn)} count={data?.identities.length ?? 0} />
        </section>
        {selected !== "" && <WorkloadDetails key={selected} uid={selected} />}
      </div>
      {search.dialog === "new" && mayCreate && <Wizard onClose={() => void close()} />}
    </>
  );
}

function Filters() {
  const { t } = useTexts();
  const { selected, search, open } = useIdentitiesAddress();
  const filter = search.filter ?? "";
  const [typed, setTyped] = useState(filter);
  const wanted = useDelayed(typed.trim(), 250);
  const latest = useRef(open);
  latest.current = open;
  useEffect(() => {
    if (wanted === filter) return;
    if (isUid(wanted)) void latest.current(wanted);
    else void latest.current(selected, { filter: wanted || undefined, page: undefined });
  }, [wanted, filter, selected]);
  return (
    <div className="filters">
      <TextInput
        id="identity-filter"
        type="search"
        aria-label={t("identities.filter")}
        placeholder={t("identities.filter")}
        value={typed}
        maxLength={512}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <select
        className="select"
        aria-label={t("identities.type")}
        value={search.type ?? ""}
        onChange={({ target }) =>
          void open(selected, { type: (target.value || undefined) as IdentitiesSearch["type"], page: undefined })
        }
      >
        <option value="">{t("identities.anyType")}</option>
        <option value="claimMatch">{t("type.claimMatch")}</option>
        <option value="staticKeys">{t("type.staticKeys")}</option>
        <option value="aws">{t("type.awsIdentity")}</option>
      </select>
    </div>
  );
}

function useColumns(rows: readonly Identity[]): Column<Identity>[] {
  const { t } = useTexts();
  const {
    org,
    search: { dialog: _dialog, ...kept },
  } = useIdentitiesAddress();
  const uses = useRoleCounts(rows.map(({ uid }) => uid));
  return [
    {
      title: t("identities.name"),
      cell: ({ uid, name }) => (
        <Link to="/o/$org/identities/$" params={{ org, _splat: uid }} search={kept}>
          <bdi>{name}</bdi>
        </Link>
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
    { title: t("identities.roles"), cell: ({ uid }) => uses.get(uid) ?? "" },
  ];
}

/** When an identity was seen last, and whether its keys end soon. */
export function Seen({ identity }: { readonly identity: Identity }) {
  const { t } = useTexts();
  const { lastSeenTime, relationship } = identity;
  const end = relationship.case === "staticKeys" ? relationship.value.expirationTime : undefined;
  const leftMs = end ? timestampDate(end).getTime() - Date.now() : Number.POSITIVE_INFINITY;
  return (
    <div className="lines">
      {lastSeenTime ? (
        <Ago time={timestampDate(lastSeenTime)} />
      ) : (
        <span className="warning">! {t("identities.never")}</span>
      )}
      {end && leftMs < 14 * 24 * 3_600_000 && (
        <span className={leftMs < 0 ? "danger" : "warning"}>
          {leftMs < 0 ? "✕" : "!"} {t(leftMs < 0 ? "identities.keyEnded" : "identities.keyEnds")}{" "}
          <Ago time={timestampDate(end)} />
        </span>
      )}
    </div>
  );
}

/** Returns how many role bindings identities have: the totals of lists of one row. */
function useRoleCounts(uids: readonly string[]): ReadonlyMap<string, number> {
  const { data: me } = useMe();
  const { org } = useIdentitiesAddress();
  const transport = useTransport();
  const mayList = may(me, listRoleBindings, org);
  const results = useQueries({
    queries: (mayList ? uids : []).map((identity) =>
      createQueryOptions(listRoleBindings, { identity, uidp: { descendantsOf: org }, pageSize: 1 }, { transport }),
    ),
  });
  return new Map(results.flatMap(({ data }, index) => (data ? [[uids[index]!, Number(data.totalCount)]] : [])));
}
