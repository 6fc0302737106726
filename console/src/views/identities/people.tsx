// The people with access to the organization.
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { AccessService, type IdentityAccess } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { may, requiredBy, useMe } from "../../api/access.ts";
import { shortUid } from "../../api/uids.ts";
import { nameOf } from "../../shell/access-preview.tsx";
import { CopyAs, Copyable } from "../../shell/parts.tsx";
import { Denied } from "../../shell/states.tsx";
import { type Column, Pager, pageSize, pagesOf, Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useIdentitiesAddress } from "./address.ts";

const { whoCan } = AccessService.method;

/** Who has access at the organization. People belong to no group, so their uids have one segment. */
export function People() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, selected, search, open } = useIdentitiesAddress();
  const mayList = may(me, whoCan, org);
  const turn = (page: number | undefined) => void open(selected, { page });
  const request = { group: org, pageSize, skip: pagesOf(search.page, 0, turn).skip };
  const { data, error, refetch } = useQuery(whoCan, request, { enabled: mayList });
  const columns = useColumns();
  if (me && !mayList) return <Denied capabilities={requiredBy(whoCan)} uid={org} />;
  const people = data?.identities.filter(({ identity }) => identity && !identity.uid.includes("/"));
  return (
    <div className="stack">
      <div className="head">
        <p className="muted">{t("people.lead")}</p>
        <div className="grow" />
        <CopyAs method={whoCan} request={request} />
      </div>
      <Table
        label={t("identities.people")}
        list={{ rows: people, error, onRetry: () => void refetch() }}
        columns={columns}
        keyOf={({ identity }) => identity?.uid ?? ""}
        empty={<p className="notice">{t("people.none")}</p>}
      />
      {Number(data?.totalCount ?? 0) > pageSize && (
        <Pager {...pagesOf(search.page, Number(data?.totalCount ?? 0), turn)} count={data?.identities.length ?? 0} />
      )}
    </div>
  );
}

function useColumns(): Column<IdentityAccess>[] {
  const { t } = useTexts();
  const { org } = useIdentitiesAddress();
  return [
    {
      title: t("people.person"),
      cell: ({ identity }) => (
        <Link to="/o/$org/access" params={{ org }} search={{ tab: "identity", identity: identity?.uid ?? "" }}>
          <bdi>{nameOf(identity)}</bdi>
        </Link>
      ),
    },
    { title: t("people.email"), cell: ({ identity }) => <bdi>{identity?.email}</bdi> },
    {
      title: t("identities.roles"),
      cell: ({ bindings }) => bindings.map(({ roleName }) => roleName || "…").join(", "),
    },
    {
      title: "uid",
      cell: ({ identity }) => <Copyable value={identity?.uid ?? ""} shown={shortUid(identity?.uid ?? "")} what="uid" />,
    },
  ];
}
