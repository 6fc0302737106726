// The role bindings with a term: which begin later, and which end, and when.
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import {
  type RoleBindingTerm,
  RoleBindingTermState,
  RoleBindingTermsService,
} from "../../../../gen/gatehouse/access/v1/role_binding_terms_pb.ts";
import { may, missingFor, requiredBy, useMe } from "../../api/access.ts";
import { dayMs, hourMs } from "../../api/durations.ts";
import { useNamed } from "../../api/naming.ts";
import { useResolved } from "../../api/resources.ts";
import { ActionMenu } from "../../shell/action-menu.tsx";
import { type Column, timeCell } from "../../shell/columns.ts";
import filterStyles from "../../shell/filters.module.css";
import { GroupPath } from "../../shell/group-path.tsx";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { List } from "../../shell/list.tsx";
import { Empty } from "../../shell/look.tsx";
import { usePagedList } from "../../shell/paged-list.ts";
import { CopyAs } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { ProfileLink } from "../../shell/profile-link.tsx";
import { RolePill } from "../../shell/role-pill.tsx";
import { SelectField } from "../../shell/select-field.tsx";
import { Denied } from "../../shell/states.tsx";
import { TermPill } from "../../shell/term-pill.tsx";
import { useTexts } from "../../texts/texts.ts";
import { endFilters } from "./address.ts";
import { useAccessAddress } from "./use-address.ts";

const { listRoleBindingTerms, updateRoleBindingTerm } = RoleBindingTermsService.method;
const { deleteRoleBinding } = RoleBindingsService.method;
const SetEnds = lazyPart(async () => (await import("./bulk.tsx")).SetTermEnds, null, "bulk");
const RemoveTerms = lazyPart(async () => (await import("./bulk.tsx")).RemoveTerms, null, "bulk");

/** The list, of the chosen group and the groups below it. */
export function Terms() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, group, search, change, ask } = useAccessAddress();
  const mayList = may(me, listRoleBindingTerms, group);
  const list = usePagedList({
    method: listRoleBindingTerms,
    request: { uidp: { descendantsOf: group }, ...filterOf(search.ends) },
    rowsOf: ({ terms }) => terms,
    isEnabled: mayList,
    address: search,
    onAddress: ({ page }) => change({ page }),
  });
  const columns = useColumns(list.rows ?? []);
  return (
    <div className="stack">
      <div className={filterStyles.filters}>
        <Picker
          kind="group"
          label={t("access.group")}
          within={org}
          value={group}
          onChange={(uid) => void ask({ group: uid || undefined })}
        />
        <SelectField
          label={t("access.terms.filter")}
          value={search.ends ?? ""}
          choices={[
            { value: "", text: t("access.terms.all") },
            ...endFilters.map((value) => ({ value, text: t(`access.terms.${value}`) })),
          ]}
          onChange={(value) => void ask({ ends: endFilters.find((one) => one === value) })}
        />
        <div className="grow" />
        <CopyAs method={listRoleBindingTerms} request={list.request} />
      </div>
      {me && !mayList && <Denied capabilities={requiredBy(listRoleBindingTerms)} uid={group} />}
      {mayList && (
        <List
          id="terms"
          label={t("access.terms")}
          list={list}
          columns={columns}
          keyOf={({ uid }) => uid}
          actions={[
            {
              text: t("access.setEnds"),
              method: updateRoleBindingTerm,
              placeOf: ({ groupUid }) => groupUid,
              Dialog: SetEnds,
            },
            {
              text: t("access.takeRoles"),
              method: deleteRoleBinding,
              placeOf: ({ groupUid }) => groupUid,
              Dialog: RemoveTerms,
            },
          ]}
          empty={
            <Empty {...(search.ends !== undefined && { onClear: () => void ask({ ends: undefined }) })}>
              {t(search.ends === undefined ? "access.terms.none" : "list.noMatch")}
            </Empty>
          }
        />
      )}
    </div>
  );
}

const lengths = { day: dayMs, week: 7 * dayMs, month: 30 * dayMs } as const;

/** Returns the part of the request for a filter. Its time is that of the next full hour: each other time would be another list. */
function filterOf(ends: (typeof endFilters)[number] | undefined): {
  readonly expiresBefore?: Timestamp;
  readonly state?: RoleBindingTermState;
} {
  if (ends === undefined) return {};
  if (ends === "scheduled") return { state: RoleBindingTermState.SCHEDULED };
  return { expiresBefore: timestampFromMs(Math.ceil(Date.now() / hourMs) * hourMs + lengths[ends]) };
}

function useColumns(rows: readonly RoleBindingTerm[]): Column<RoleBindingTerm>[] {
  const { t } = useTexts();
  const named = useNamed(rows.flatMap(({ identityUid, roleUid }) => [identityUid, roleUid]));
  const names = useResolved(rows.map(({ groupUid }) => groupUid));
  return [
    {
      title: t("access.identity"),
      text: ({ identityUid, roleUid }) => [named(identityUid), named(roleUid)].join(" · "),
      cell: ({ identityUid }) => (
        <ProfileLink identity={{ uid: identityUid }}>
          <bdi>{named(identityUid)}</bdi>
        </ProfileLink>
      ),
    },
    {
      title: t("access.role"),
      text: ({ roleUid }) => named(roleUid),
      cell: ({ roleUid }) => <RolePill binding={{ roleUid, roleName: named(roleUid) }} />,
    },
    {
      title: t("access.group"),
      text: ({ groupUid }) => names.get(groupUid)?.name ?? "",
      cell: ({ groupUid }) => <GroupPath uid={groupUid} names={names} />,
    },
    {
      id: "begins",
      title: t("access.terms.begins"),
      isExtra: true,
      text: ({ startTime }) => timeCell(startTime),
      cell: ({ startTime }) => startTime && <TermPill startTime={startTime} />,
    },
    {
      title: t("access.terms.ends"),
      text: ({ expireTime }) => timeCell(expireTime),
      cell: ({ startTime, expireTime }) => <TermPill startTime={startTime} expireTime={expireTime} />,
    },
    {
      title: t("access.terms.actions"),
      isAction: true,
      cell: (term) => <Actions term={term} name={[named(term.roleUid), named(term.identityUid)].join(" · ")} />,
    },
  ];
}

function Actions({ term, name }: { readonly term: RoleBindingTerm; readonly name: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { change } = useAccessAddress();
  const { uid, groupUid, expireTime } = term;
  return (
    <ActionMenu
      isInRow
      label={t("access.terms.actionsOf", { name })}
      actions={[
        {
          text: t(expireTime ? "access.changeEnd" : "access.setEnd"),
          missing: missingFor(me, updateRoleBindingTerm, groupUid),
          onClick: () => void change({ dialog: "end", binding: uid }),
        },
        {
          text: t("access.revoke"),
          missing: missingFor(me, deleteRoleBinding, groupUid),
          isDangerous: true,
          onClick: () => void change({ dialog: "revoke", binding: uid }),
        },
      ]}
    />
  );
}
