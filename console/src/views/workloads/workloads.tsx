import { timestampDate } from "@bufbuild/protobuf/wkt";
import { IdentitiesService } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { IdentitySearchService } from "../../../../gen/gatehouse/iam/v1/identities_pb.ts";
import { may, missingFor, outermostWith, requiredBy, useMe } from "../../api/access.ts";
import { type Column, timeCell } from "../../shell/columns.ts";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { List } from "../../shell/list.tsx";
import { Avatar, Empty, PageHead } from "../../shell/look.tsx";
import { usePagedList } from "../../shell/paged-list.ts";
import { ActionButton, Ago, CopyAs } from "../../shell/parts.tsx";
import { ProfileLink } from "../../shell/profile-link.tsx";
import { Denied } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useWorkloadsAddress } from "./address.ts";
import { issuerOf, subjectOf, typeOf, type Workload } from "./identity-facts.ts";
import { Seen } from "./seen.tsx";
import { useWorkloadFilter, WorkloadFilters } from "./workload-filters.tsx";

const Wizard = lazyPart(async () => (await import("./wizard.tsx")).Wizard);

const DeleteWorkloads = lazyPart(async () => (await import("./bulk.tsx")).DeleteWorkloads, null, "bulk");
const GiveRole = lazyPart(async () => (await import("./bulk.tsx")).GiveWorkloadsRole, null, "bulk");
const TakeRoles = lazyPart(async () => (await import("./bulk.tsx")).TakeWorkloadsRoles, null, "bulk");

const { createRoleBinding, deleteRoleBinding } = RoleBindingsService.method;
const { searchIdentities } = IdentitySearchService.method;
const { createIdentity, deleteIdentity } = IdentitiesService.method;

/** The list. */
export function Workloads() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, change, close } = useWorkloadsAddress();
  const missing = missingFor(me, createIdentity, org);
  const [place = org] = outermostWith(me, createRoleBinding, org);
  const mayList = may(me, searchIdentities);
  const { filter, isFiltered, clear } = useWorkloadFilter();
  const list = usePagedList({
    method: searchIdentities,
    request: filter,
    rowsOf: ({ identities, roleBindingCounts }) =>
      identities.map((identity): Workload => ({ identity, roles: roleBindingCounts[identity.uid] })),
    order: "name",
    isEnabled: mayList,
    address: search,
    onAddress: change,
  });
  const columns = useColumns();
  if (me && !mayList) return <Denied capabilities={requiredBy(searchIdentities)} uid={org} isPage />;
  return (
    <>
      <PageHead title={t("nav.workloads")}>
        <CopyAs method={searchIdentities} request={list.request} />
        <ActionButton variant="filled" shortcut="n" missing={missing} onClick={() => void change({ dialog: "new" })}>
          {t("identities.new")}
        </ActionButton>
      </PageHead>
      <WorkloadFilters />
      <section className="stack" aria-label={t("identities.workloads")}>
        <List
          id="workloads"
          label={t("identities.workloads")}
          list={list}
          columns={columns}
          keyOf={uidOf}
          actions={[
            { text: t("access.giveRole"), method: createRoleBinding, placeOf: () => place, Dialog: GiveRole },
            { text: t("access.takeRoles"), method: deleteRoleBinding, placeOf: () => place, Dialog: TakeRoles },
            { text: t("identities.deleteButton"), method: deleteIdentity, placeOf: uidOf, Dialog: DeleteWorkloads },
          ]}
          empty={
            <Empty {...(isFiltered && { onClear: clear })}>{t(isFiltered ? "list.noMatch" : "identities.none")}</Empty>
          }
        />
      </section>
      {search.dialog === "new" && missing.length === 0 && <Wizard onClose={() => void close()} />}
    </>
  );
}

function uidOf({ identity }: Workload): string {
  return identity.uid;
}

function useColumns(): Column<Workload>[] {
  const { t } = useTexts();
  return [
    {
      title: t("identities.name"),
      text: ({ identity }) => identity.name,
      sort: "name",
      cell: ({ identity }) => (
        <span className="who">
          <Avatar uid={identity.uid} name={identity.name} isWorkload />
          <ProfileLink identity={identity} />
        </span>
      ),
    },
    {
      id: "who",
      title: t("identities.who"),
      text: ({ identity }) => [issuerOf(identity), subjectOf(identity)].filter((text) => text !== "").join(" · "),
      cell: ({ identity }) => (
        <div className="lines">
          <span>{t(`type.${typeOf(identity)}`)}</span>
          <span className="muted small">
            <bdi>{[issuerOf(identity), subjectOf(identity)].filter((text) => text !== "").join(" · ")}</bdi>
          </span>
        </div>
      ),
    },
    {
      id: "seen",
      title: t("identities.lastSeen"),
      text: ({ identity }) => timeCell(identity.lastSeenTime),
      cell: ({ identity }) => <Seen identity={identity} />,
    },
    {
      id: "roles",
      title: t("identities.roles"),
      text: ({ roles }) => roles?.toString() ?? "",
      cell: ({ roles }) => roles?.toString() ?? "",
    },
    {
      id: "created",
      title: t("list.created"),
      isExtra: true,
      sort: "create_time desc",
      text: ({ identity }) => timeCell(identity.createTime),
      cell: ({ identity: { createTime } }) => createTime && <Ago time={timestampDate(createTime)} />,
    },
  ];
}
