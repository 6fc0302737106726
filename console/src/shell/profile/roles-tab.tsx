// The roles of a person or workload by group, and what they give. Load the texts `access` and `capabilities` with it.

import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { AccessService, type HeldRole } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { RoleBindingTermsService } from "../../../../gen/gatehouse/access/v1/role_binding_terms_pb.ts";
import { missingFor, useMe } from "../../api/access.ts";
import { useResolved } from "../../api/resources.ts";
import { type Texts, useTexts } from "../../texts/texts.ts";
import { ActionMenu } from "../action-menu.tsx";
import { useBindingAddress } from "../binding-address.ts";
import { type Column, timeCell } from "../columns.ts";
import { GroupPath } from "../group-path.tsx";
import { HeldTree } from "../held-tree.tsx";
import { lazyPart } from "../lazy-part.tsx";
import { List } from "../list.tsx";
import { Empty, Pill } from "../look.tsx";
import { usePagedList } from "../paged-list.ts";
import { CopyAs } from "../parts.tsx";
import { RolePill } from "../role-pill.tsx";
import { Denied } from "../states.tsx";
import { TermPill } from "../term-pill.tsx";
import { useProfileAddress } from "./address.ts";
import { useHeldRoles } from "./held-roles.ts";

const { whatCan } = AccessService.method;
const { updateRoleBinding, deleteRoleBinding } = RoleBindingsService.method;

const { updateRoleBindingTerm } = RoleBindingTermsService.method;

const SetEnds = lazyPart(async () => (await import("./take-away.tsx")).SetHeldEnds, null, "bulk");
const TakeAway = lazyPart(async () => (await import("./take-away.tsx")).TakeAway, null, "bulk");

/** The roles, and under them what they give by group. Roles by group mappings are only there: they have no binding. */
export function RolesTab({ identity }: { readonly identity: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, change } = useProfileAddress();
  const { roles, mayList } = useHeldRoles(org, identity);
  const list = usePagedList({
    method: whatCan,
    request: { identity, group: org },
    rowsOf: ({ roles: bound }) => bound,
    isEnabled: mayList,
    address: search.page === undefined ? {} : { page: search.page },
    onAddress: ({ page }) => change({ page }),
  });
  const columns = useColumns(list.rows ?? []);
  if (me && !mayList) return <Denied capabilities={["role_bindings.list"]} uid={org} />;
  return (
    <div className="stack">
      <div className="row">
        <p className="muted">{t("profile.roles.lead")}</p>
        <div className="grow" />
        <CopyAs method={whatCan} request={list.request} />
      </div>
      <List
        id="held-roles"
        label={t("profile.roles")}
        list={list}
        columns={columns}
        keyOf={keyOf}
        actions={[
          { text: t("access.setEnds"), method: updateRoleBindingTerm, placeOf, Dialog: SetEnds },
          { text: t("profile.takeAwayAll"), method: deleteRoleBinding, placeOf, Dialog: TakeAway },
        ]}
        empty={<Empty>{t("access.noRole")}</Empty>}
      />
      {roles && roles.length > 0 && (
        <section className="card stack" aria-labelledby="effective">
          <h2 id="effective">{t("profile.effective")}</h2>
          <HeldTree roles={roles} />
        </section>
      )}
    </div>
  );
}

function keyOf({ binding, effectiveGroupUids, capabilities }: HeldRole): string {
  return binding?.roleBindingUid || [binding?.groupUid, ...effectiveGroupUids, ...capabilities].join();
}

function useColumns(roles: readonly HeldRole[]): Column<HeldRole>[] {
  const { t } = useTexts();
  const names = useResolved(roles.map(placeOf));
  return [
    {
      title: t("access.role"),
      text: ({ binding }) => [binding?.roleName || "…", binding?.groupName || "…"].join(" · "),
      cell: ({ binding }) => <RolePill binding={binding} />,
    },
    { title: t("access.group"), cell: (held) => <GroupPath uid={placeOf(held)} names={names} /> },
    {
      title: t("profile.gives"),
      cell: (held) => (
        <span className="row">
          {held.capabilities.length > 0 && t("access.count", { count: held.capabilities.length })}
          {remarksOf(t, held).map((remark) => (
            <Pill key={remark} tone={held.effectiveGroupUids.length > 0 ? "neutral" : "medium"}>
              {remark}
            </Pill>
          ))}
        </span>
      ),
    },
    {
      title: t("access.terms.ends"),
      text: ({ binding }) => timeCell(binding?.expireTime),
      cell: ({ binding }) => <TermPill startTime={binding?.startTime} expireTime={binding?.expireTime} />,
    },
    { title: t("profile.actions"), isAction: true, cell: (held) => <Actions held={held} /> },
  ];
}

/** Returns the group where a role is bound, or where a mapping gives it. */
function placeOf({ binding, effectiveGroupUids }: HeldRole): string {
  return binding?.groupUid ?? effectiveGroupUids[0] ?? "";
}

/** Says where a role comes from, if it is not simply bound there, and why it gives nothing. */
function remarksOf(t: Texts, { binding, effectiveGroupUids, confined, suspended }: HeldRole): string[] {
  return [
    // The server leaves out what is bound above the groups where the caller may list role bindings.
    ...(binding?.roleBindingUid === "" ? [t("profile.inherited")] : []),
    ...(suspended ? [t("profile.idleSuspended")] : []),
    ...(confined ? [t(effectiveGroupUids.length > 0 ? "access.confinedHere" : "profile.idle")] : []),
  ];
}

/** The menu of a role. Roles by mappings, and those from above, are changed elsewhere. */
function Actions({ held: { binding } }: { readonly held: HeldRole }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { openDialog } = useBindingAddress();
  const { roleBindingUid = "", roleName = "", groupUid = "", groupName = "", expireTime } = binding ?? {};
  if (roleBindingUid === "") return null;
  return (
    <ActionMenu
      isInRow
      label={t("profile.actionsOf", { role: roleName || "…", group: groupName || "…" })}
      actions={[
        {
          text: t("access.change"),
          missing: missingFor(me, updateRoleBinding, groupUid),
          onClick: () => void openDialog("change", roleBindingUid),
        },
        {
          text: t(expireTime ? "access.changeEnd" : "access.setEnd"),
          missing: missingFor(me, updateRoleBindingTerm, groupUid),
          onClick: () => void openDialog("end", roleBindingUid),
        },
        {
          text: t("profile.takeAway"),
          missing: missingFor(me, deleteRoleBinding, groupUid),
          isDangerous: true,
          onClick: () => void openDialog("revoke", roleBindingUid),
        },
      ]}
    />
  );
}
