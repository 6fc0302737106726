// The rules of access requests: who may request which roles, where, and for how long.
import { durationMs } from "@bufbuild/protobuf/wkt";
import {
  type AccessRequestRule,
  AccessRequestRulesService,
} from "../../../../gen/gatehouse/access/v1/access_request_rules_pb.ts";
import { may, missingFor, outermostWith, requiredBy, useMe } from "../../api/access.ts";
import { useNamed } from "../../api/naming.ts";
import { useResolved } from "../../api/resources.ts";
import { parentOf } from "../../api/uids.ts";
import { ActionMenu } from "../../shell/action-menu.tsx";
import type { Column } from "../../shell/columns.ts";
import { GroupPath } from "../../shell/group-path.tsx";
import { useInactive } from "../../shell/inactive-delegations.ts";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { List } from "../../shell/list.tsx";
import { Empty, Pill } from "../../shell/look.tsx";
import { usePagedList } from "../../shell/paged-list.ts";
import { ActionButton, CopyAs } from "../../shell/parts.tsx";
import { Denied } from "../../shell/states.tsx";
import { lengthText, useTexts } from "../../texts/texts.ts";
import { useRequestsAddress } from "./address.ts";

const { listAccessRequestRules, createAccessRequestRule, updateAccessRequestRule, deleteAccessRequestRule } =
  AccessRequestRulesService.method;

const RuleDialogs = lazyPart(async () => (await import("./rule-dialogs.tsx")).RuleDialogs);

/** The list, with the dialogs of a rule. */
export function Rules() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, change } = useRequestsAddress();
  const [place = org] = outermostWith(me, createAccessRequestRule, org);
  const mayList = may(me, listAccessRequestRules);
  const list = usePagedList({
    method: listAccessRequestRules,
    request: { uidp: { descendantsOf: org } },
    rowsOf: ({ accessRequestRules }) => accessRequestRules,
    order: "name",
    isEnabled: mayList,
    address: search,
    onAddress: change,
  });
  const columns = useColumns(list.rows ?? []);
  if (me && !mayList) return <Denied capabilities={requiredBy(listAccessRequestRules)} uid={org} />;
  return (
    <div className="stack">
      <div className="row">
        <p className="muted">{t("requests.rules.lead")}</p>
        <div className="grow" />
        <CopyAs method={listAccessRequestRules} request={list.request} />
        <ActionButton
          variant="filled"
          shortcut="n"
          missing={missingFor(me, createAccessRequestRule, place)}
          onClick={() => void change({ dialog: "new" })}
        >
          {t("requests.rules.new")}
        </ActionButton>
      </div>
      <List
        id="request-rules"
        label={t("requests.rules")}
        list={list}
        columns={columns}
        keyOf={({ uid }) => uid}
        empty={<Empty>{t("requests.rules.none")}</Empty>}
      />
      {search.dialog !== undefined && <RuleDialogs place={place} />}
    </div>
  );
}

function useColumns(rows: readonly AccessRequestRule[]): Column<AccessRequestRule>[] {
  const { t, locale } = useTexts();
  const { org } = useRequestsAddress();
  const inactive = useInactive(org);
  const named = useNamed(
    rows.flatMap(({ roleUids, eligibleRoleUids, eligibleIdentityUids, approverRoleUids, approverIdentityUids }) => [
      ...roleUids,
      ...eligibleRoleUids,
      ...eligibleIdentityUids,
      ...approverRoleUids,
      ...approverIdentityUids,
    ]),
  );
  const names = useResolved(rows.map(({ uid }) => parentOf(uid)));
  const list = (uids: readonly string[]) => uids.map(named).join(", ");
  const approversOf = ({ approverRoleUids, approverIdentityUids }: AccessRequestRule) =>
    list([...approverRoleUids, ...approverIdentityUids]) || t("requests.rules.managers");
  return [
    {
      title: t("requests.rules.name"),
      sort: "name",
      text: ({ name }) => name,
      cell: (rule) => <RuleName rule={rule} inactive={inactive.get(rule.uid)} />,
    },
    {
      title: t("requests.rules.roles"),
      text: ({ roleUids }) => list(roleUids),
      cell: ({ roleUids }) => (
        <span className="row tight">
          {roleUids.map((uid) => (
            <Pill key={uid} icon="id-badge">
              <bdi>{named(uid)}</bdi>
            </Pill>
          ))}
        </span>
      ),
    },
    { title: t("requests.group"), cell: ({ uid }) => <GroupPath uid={parentOf(uid)} names={names} /> },
    {
      id: "eligible",
      title: t("requests.rules.eligible"),
      text: (rule) => list([...rule.eligibleRoleUids, ...rule.eligibleIdentityUids]),
      cell: (rule) => <bdi>{list([...rule.eligibleRoleUids, ...rule.eligibleIdentityUids])}</bdi>,
    },
    {
      id: "approvers",
      title: t("requests.rules.approvers"),
      isWide: true,
      text: approversOf,
      cell: (rule) => (
        <div className="lines">
          <span>{t("requests.rules.approvals", { count: rule.requiredApprovals ?? 0 })}</span>
          {rule.requiredApprovals !== 0 && <bdi className="muted small">{approversOf(rule)}</bdi>}
        </div>
      ),
    },
    {
      id: "length",
      title: t("requests.rules.longest"),
      text: ({ maxDuration }) => (maxDuration ? lengthText(durationMs(maxDuration), locale) : ""),
      cell: ({ maxDuration }) => maxDuration && lengthText(durationMs(maxDuration), locale),
    },
    { title: t("requests.actions"), isAction: true, cell: (rule) => <Actions rule={rule} /> },
  ];
}

function RuleName({ rule, inactive }: { readonly rule: AccessRequestRule; readonly inactive: string | undefined }) {
  const { t } = useTexts();
  return (
    <div className="lines">
      <bdi>
        <strong>{rule.name}</strong>
      </bdi>
      {rule.description !== "" && <bdi className="muted small">{rule.description}</bdi>}
      {inactive !== undefined && (
        <Pill tone="medium" icon="blocked">
          <bdi>{t("requests.rules.inactive", { reason: inactive })}</bdi>
        </Pill>
      )}
    </div>
  );
}

function Actions({ rule: { uid, name } }: { readonly rule: AccessRequestRule }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { open } = useRequestsAddress();
  return (
    <ActionMenu
      isInRow
      label={t("requests.rules.actionsOf", { name })}
      actions={[
        {
          text: t("requests.rules.edit"),
          missing: missingFor(me, updateAccessRequestRule, uid),
          onClick: () => void open(uid, { dialog: "edit" }),
        },
        {
          text: t("requests.rules.delete"),
          missing: missingFor(me, deleteAccessRequestRule, uid),
          isDangerous: true,
          onClick: () => void open(uid, { dialog: "delete" }),
        },
      ]}
    />
  );
}
