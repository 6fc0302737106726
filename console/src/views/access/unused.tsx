// The role bindings that nobody used for some days, with advice and the evidence for it.
import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { Checkbox } from "@mantine/core";
import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import {
  AccessUsageService,
  type BindingUsage,
  UsageAdvice,
} from "../../../../gen/gatehouse/access/v1/access_usage_pb.ts";
import { may, missingFor, requiredBy, useMe } from "../../api/access.ts";
import { dayMs } from "../../api/durations.ts";
import { identityText } from "../../api/naming.ts";
import { useResolved } from "../../api/resources.ts";
import { ActionMenu } from "../../shell/action-menu.tsx";
import { type Column, timeCell } from "../../shell/columns.ts";
import filterStyles from "../../shell/filters.module.css";
import { GroupPath } from "../../shell/group-path.tsx";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { List } from "../../shell/list.tsx";
import { Empty, Pill } from "../../shell/look.tsx";
import { usePagedList } from "../../shell/paged-list.ts";
import { CopyAs } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { ProfileLink } from "../../shell/profile-link.tsx";
import { RolePill } from "../../shell/role-pill.tsx";
import { SelectField } from "../../shell/select-field.tsx";
import { Denied } from "../../shell/states.tsx";
import { dayText, lengthText, type Texts, useTexts } from "../../texts/texts.ts";
import { dayFilters } from "./address.ts";
import { useAccessAddress } from "./use-address.ts";

const { listUnusedAccess } = AccessUsageService.method;
const { deleteRoleBinding } = RoleBindingsService.method;
const RemoveUnused = lazyPart(async () => (await import("./bulk.tsx")).RemoveUnused, null, "bulk");

/** For how many days a role binding was not used, without a choice. */
const usualDays = "90";

/** The list, of the chosen group and the groups below it. */
export function Unused() {
  const { t, locale } = useTexts();
  const { data: me } = useMe();
  const { org, group, search, change, ask } = useAccessAddress();
  const mayList = may(me, listUnusedAccess, group);
  const days = search.days ?? usualDays;
  const list = usePagedList({
    method: listUnusedAccess,
    request: { parent: group, unusedDays: Number(days), showUsed: search.used === "yes" },
    rowsOf: (response) => response.bindings,
    isEnabled: mayList,
    // The server counts the days of each role binding again for a page.
    hasWindow: false,
    address: search,
    onAddress: ({ page }) => change({ page }),
  });
  const columns = useColumns(list.rows ?? [], Number(days));
  return (
    <div className="stack">
      <p className="muted">{t("access.unused.lead")}</p>
      <div className={filterStyles.filters}>
        <Picker
          kind="group"
          label={t("access.group")}
          within={org}
          value={group}
          onChange={(uid) => void ask({ group: uid || undefined })}
        />
        <SelectField
          label={t("access.unused.days")}
          value={days}
          choices={[...dayFilters, usualDays]
            .sort((a, b) => Number(a) - Number(b))
            .map((value) => ({ value, text: lengthText(Number(value) * dayMs, locale) }))}
          onChange={(value) => void ask({ days: dayFilters.find((one) => one === value) })}
        />
        <Checkbox
          label={t("access.unused.showUsed")}
          checked={search.used === "yes"}
          onChange={({ currentTarget }) => void ask({ used: currentTarget.checked ? "yes" : undefined })}
        />
        <div className="grow" />
        <CopyAs method={listUnusedAccess} request={list.request} />
      </div>
      {me && !mayList && <Denied capabilities={requiredBy(listUnusedAccess)} uid={group} />}
      {mayList && (
        <List
          id="unused"
          label={t("access.unused")}
          list={list}
          columns={columns}
          keyOf={keyOf}
          actions={[{ text: t("access.takeRoles"), method: deleteRoleBinding, placeOf, Dialog: RemoveUnused }]}
          empty={<Empty>{t("access.unused.none")}</Empty>}
        />
      )}
    </div>
  );
}

function keyOf({ binding }: BindingUsage): string {
  return binding?.roleBindingUid ?? "";
}

function placeOf({ binding }: BindingUsage): string {
  return binding?.groupUid ?? "";
}

function useColumns(rows: readonly BindingUsage[], days: number): Column<BindingUsage>[] {
  const { t, locale } = useTexts();
  const names = useResolved(rows.map(placeOf));
  return [
    {
      title: t("access.identity"),
      text: ({ identity, binding }) => [identityText(t, identity), binding?.roleName || "…"].join(" · "),
      cell: ({ identity }) => <ProfileLink identity={identity} />,
    },
    {
      title: t("access.role"),
      text: ({ binding }) => binding?.roleName ?? "",
      cell: ({ binding }) => <RolePill binding={binding} />,
    },
    {
      title: t("access.group"),
      text: (row) => names.get(placeOf(row))?.name ?? "",
      cell: (row) => <GroupPath uid={placeOf(row)} names={names} />,
    },
    {
      id: "lastUse",
      title: t("access.unused.lastUse"),
      text: ({ lastUseTime }) => timeCell(lastUseTime),
      cell: ({ lastUseTime }) =>
        lastUseTime ? (
          dayText(timestampDate(lastUseTime), locale)
        ) : (
          <span className="muted">{t("access.unused.never")}</span>
        ),
    },
    {
      id: "used",
      title: t("access.unused.used"),
      isWide: true,
      text: ({ usedCapabilities, capabilityCount }) => `${usedCapabilities.length}/${capabilityCount}`,
      cell: ({ usedCapabilities, capabilityCount }) => (
        <span title={usedCapabilities.map(({ capability }) => capability).join(", ")}>
          {t("access.unused.share", { used: usedCapabilities.length, all: capabilityCount })}
        </span>
      ),
    },
    {
      id: "advice",
      title: t("access.unused.advice"),
      text: (row) => evidenceOf(t, row, days, locale),
      cell: (row) => <Advice row={row} days={days} />,
    },
    { title: t("access.terms.actions"), isAction: true, cell: (row) => <Actions row={row} /> },
  ];
}

/** The advice, and under it what it rests on. */
function Advice({ row, days }: { readonly row: BindingUsage; readonly days: number }) {
  const { t, locale } = useTexts();
  return (
    <div className="lines">
      {row.advice === UsageAdvice.REMOVE && (
        <Pill tone="high" icon="x-circle-fill">
          {t("access.unused.remove")}
        </Pill>
      )}
      {row.advice === UsageAdvice.TOO_EARLY && <Pill icon="clock">{t("access.unused.tooEarly")}</Pill>}
      <span className="muted small">{evidenceOf(t, row, days, locale)}</span>
    </div>
  );
}

/** Says in a sentence why there is this advice, or none. */
function evidenceOf(t: Texts, row: BindingUsage, days: number, locale: string): string {
  const { advice, observedSinceTime, delegationCount, lastUseTime } = row;
  const since = observedSinceTime && timestampDate(observedSinceTime);
  if (advice === UsageAdvice.REMOVE) return t("access.unused.evidence", { days });
  if (advice === UsageAdvice.TOO_EARLY)
    return since ? t("access.unused.since", { day: dayText(since, locale) }) : t("access.unused.notRecorded");
  const isUsed = lastUseTime !== undefined && timestampMs(lastUseTime) > Date.now() - (days + 1) * dayMs;
  if (!isUsed && delegationCount > 0) return t("access.unused.delegations", { count: delegationCount });
  return t("access.unused.inUse");
}

function Actions({ row }: { readonly row: BindingUsage }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { change } = useAccessAddress();
  const { roleBindingUid = "", roleName = "" } = row.binding ?? {};
  if (roleBindingUid === "") return null;
  return (
    <ActionMenu
      isInRow
      label={t("access.terms.actionsOf", { name: [roleName || "…", identityText(t, row.identity)].join(" · ") })}
      actions={[
        {
          text: t("access.revoke"),
          missing: missingFor(me, deleteRoleBinding, placeOf(row)),
          isDangerous: true,
          onClick: () => void change({ dialog: "revoke", binding: roleBindingUid }),
        },
      ]}
    />
  );
}
