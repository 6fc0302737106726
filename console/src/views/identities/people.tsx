// The people who hold roles at the organization or in a group of it.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { AccessService, type Person } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { may, outermostWith, requiredBy, useMe } from "../../api/access.ts";
import { nameOf, shortUid } from "../../api/uids.ts";
import filterStyles from "../../shell/filters.module.css";
import { Ago, CopyAs, Copyable, Suspended } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { Denied } from "../../shell/states.tsx";
import { type Column, Pager, pageSize, pagesOf, Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useIdentitiesAddress } from "./address.ts";
import { TextFilter } from "./workload-filters.tsx";

const { listPeople } = AccessService.method;

/** How many roles of a person are shown. */
const shownRoles = 3;

/** The list, with a filter by a part of a name or an address, and by group. */
export function People() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, change } = useIdentitiesAddress();
  const [place = org] = outermostWith(me, listPeople, org);
  const { filter = "", group = place } = search;
  const mayList = may(me, listPeople, group);
  const turn = (page: number | undefined) => void change({ page });
  const request = { group, query: filter, pageSize, skip: pagesOf(search.page, 0, turn).skip };
  const { data, error, refetch } = useQuery(listPeople, request, { enabled: mayList });
  const columns = useColumns();
  return (
    <div className="stack">
      <p className="muted">{t("people.lead")}</p>
      <div className={filterStyles.filters}>
        <TextFilter name="filter" label={t("people.filter")} opensUids={false} />
        <Picker
          kind="group"
          label={t("people.within")}
          within={org}
          value={group}
          onChange={(uid) => void change({ group: uid === place ? undefined : uid || undefined, page: undefined })}
        />
        <div className="grow" />
        <CopyAs method={listPeople} request={request} />
      </div>
      {me && !mayList && <Denied capabilities={requiredBy(listPeople)} uid={group} />}
      {mayList && (
        <>
          <Table
            label={t("identities.people")}
            list={{ rows: data?.people, error, onRetry: () => void refetch() }}
            columns={columns}
            keyOf={({ identity }) => identity?.uid ?? ""}
            empty={
              <div className="notice">
                <p>{t(filter === "" ? "people.none" : "list.noMatch")}</p>
                {filter !== "" && (
                  <div>
                    <Button
                      variant="default"
                      size="sm"
                      onClick={() => void change({ filter: undefined, page: undefined })}
                    >
                      {t("list.clear")}
                    </Button>
                  </div>
                )}
              </div>
            }
          />
          <Pager {...pagesOf(search.page, Number(data?.totalCount ?? 0), turn)} count={data?.people.length ?? 0} />
        </>
      )}
    </div>
  );
}

function useColumns(): Column<Person>[] {
  const { t } = useTexts();
  const { org } = useIdentitiesAddress();
  return [
    {
      title: t("people.person"),
      cell: ({ identity, suspended }) => (
        <span className="lines">
          <Link to="/o/$org/access" params={{ org }} search={{ tab: "identity", identity: identity?.uid ?? "" }}>
            <bdi>{nameOf(identity)}</bdi>
          </Link>
          {suspended && <Suspended />}
        </span>
      ),
    },
    { title: t("people.email"), cell: ({ identity }) => <bdi>{identity?.email}</bdi> },
    { title: t("people.roles"), cell: (person) => <Roles person={person} /> },
    {
      title: t("people.since"),
      cell: ({ joinTime }) =>
        joinTime ? <Ago time={timestampDate(joinTime)} /> : <span className="warning">! {t("people.pending")}</span>,
    },
    {
      title: "uid",
      isWide: true,
      cell: ({ identity }) => <Copyable value={identity?.uid ?? ""} shown={shortUid(identity?.uid ?? "")} what="uid" />,
    },
  ];
}

/** The first roles with the groups where they are held, and how many more there are. */
function Roles({ person: { identity, bindings, bindingCount } }: { readonly person: Person }) {
  const { t } = useTexts();
  const { org } = useIdentitiesAddress();
  const uid = identity?.uid ?? "";
  const more = Number(bindingCount) - Math.min(bindings.length, shownRoles);
  return (
    <span className="lines">
      {bindings.slice(0, shownRoles).map(({ roleBindingUid, roleName, roleUid, groupUid, groupName }) => (
        <Link key={roleBindingUid} to="/o/$org/access" params={{ org }} search={{ group: groupUid, identity: uid }}>
          <bdi>
            {t("invites.promise", { role: roleName || shortUid(roleUid), group: groupName || shortUid(groupUid) })}
          </bdi>
        </Link>
      ))}
      {more > 0 && (
        <Link to="/o/$org/access" params={{ org }} search={{ tab: "identity", identity: uid }}>
          {t("people.moreRoles", { count: more })}
        </Link>
      )}
    </span>
  );
}
