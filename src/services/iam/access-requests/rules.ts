import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  type AccessRequestRule,
  AccessRequestRuleSchema,
  AccessRequestRulesService,
} from "../../../../gen/gatehouse/access/v1/access_request_rules_pb.ts";
import { failedPrecondition } from "../../../aip/errors.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { descriptionRule, nameRule, uidRule } from "../../../pipeline/text-rules.ts";
import { commonOrders, defineResource } from "../../../resource/resource.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { standardMethods } from "../../../resource/standard-methods.ts";
import { readCounter } from "../../../storage/engine/counters.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { accessRequestRuleCollection } from "../../../storage/iam/requests/collections.ts";
import type { AccessRequestRuleRow } from "../../../storage/iam/requests/rows.ts";
import { childrenKey } from "../../../storage/schema/entry-keys.ts";
import { groupParents } from "../groups/groups.ts";
import { requireBindable } from "../role-bindings/role-binding-rules.ts";
import { noEnd, requireHeld, requireLastingCall } from "../rules/escalation.ts";
import { requireAvailableRole, requireUsableRole } from "../rules/usable-role.ts";
import { checkRule, ruleDefaults } from "./rule-checks.ts";

/** The maximum number of rules of a group. */
export const maxRulesOfGroup = 100;

/** Rules of access requests. */
export const accessRequestRule = defineResource<typeof AccessRequestRuleSchema, AccessRequestRuleRow>({
  schema: AccessRequestRuleSchema,
  plural: "accessRequestRules",
  collection: accessRequestRuleCollection,
  orderable: commonOrders,
  rules: {
    name: nameRule,
    description: descriptionRule,
    role_uids: uidRule,
    eligible_role_uids: uidRule,
    eligible_identity_uids: uidRule,
    approver_role_uids: uidRule,
    approver_identity_uids: uidRule,
  },
  check: checkRule,
  toMessage: ruleMessage,
  toRow: ({ maxDuration, decisionTime, requiredApprovals, ...value }) => ({
    name: value.name,
    description: value.description,
    roleUids: distinct(value.roleUids),
    maxDuration: maxDuration ? durationMs(maxDuration) : ruleDefaults.maxDuration,
    decisionTime: decisionTime ? durationMs(decisionTime) : ruleDefaults.decisionTime,
    requiredApprovals: requiredApprovals ?? ruleDefaults.requiredApprovals,
    eligibleRoleUids: distinct(value.eligibleRoleUids),
    eligibleIdentityUids: distinct(value.eligibleIdentityUids),
    approverRoleUids: distinct(value.approverRoleUids),
    approverIdentityUids: distinct(value.approverIdentityUids),
    reasonPattern: value.reasonPattern,
    breakGlass: value.breakGlass,
  }),
});

/** Serves the rules of access requests. */
export function accessRequestRules(context: ServiceContext): Implementation {
  const standard = standardMethods(accessRequestRule, groupParents, context);
  const { database, clock } = context;
  return implement(
    AccessRequestRulesService,
    {
      getAccessRequestRule: standard.get,
      listAccessRequestRules: (request, call) => standard.list(request, call, { name: request.name }),
      async createAccessRequestRule({ parent, accessRequestRule: value }, call) {
        const row = await database.write(writeContext(call, clock), async (tx) => {
          // Locked first: a concurrent creation must see this one.
          const exists = (await groupParents.lock(tx, parent)) !== undefined;
          if (
            exists &&
            (await readCounter(tx, childrenKey(parent), accessRequestRuleCollection.kind)) >= maxRulesOfGroup
          )
            throw failedPrecondition(
              "TOO_MANY_REQUEST_RULES",
              `a group may have at most ${maxRulesOfGroup} rules of access requests; delete one first`,
              parent,
            );
          await requireRule(tx, accessRequestRule.toRow(value!), parent, call);
          return await standard.insert(tx, parent, value!, {});
        });
        return ruleMessage(row);
      },
      updateAccessRequestRule: ({ accessRequestRule: value, updateMask }, call) =>
        standard.update(value!, updateMask, call, async (tx, before, after) => {
          await requireRule(tx, after, before.parent, call);
          return after;
        }),
      deleteAccessRequestRule: (request, call) => standard.delete(request, call),
    },
    accessRequestRule.messageRules,
  );
}

/**
 * Throws unless the caller may give the roles of a rule at its group without an end, and the identities and roles that it names may be
 * used there.
 */
async function requireRule(
  session: Session,
  rule: Omit<AccessRequestRuleRow, "uid" | "parent" | "createTime" | "updateTime">,
  groupUid: string,
  call: Call,
): Promise<void> {
  requireLastingCall(call, groupUid);
  requireHeld(call, [Capability.CAP_IAM_ROLE_BINDINGS_CREATE], groupUid, "the rule", { end: noEnd });
  for (const uid of rule.roleUids) await requireUsableRole(session, uid, groupUid, call, noEnd);
  for (const uid of [...rule.eligibleRoleUids, ...rule.approverRoleUids])
    await requireAvailableRole(session, uid, groupUid);
  for (const uid of [...rule.eligibleIdentityUids, ...rule.approverIdentityUids])
    await requireBindable(session, uid, groupUid, call);
}

/** Converts a stored rule to its message. */
export function ruleMessage(row: AccessRequestRuleRow) {
  const { uid, name, description, requiredApprovals, reasonPattern, breakGlass } = row;
  return {
    uid,
    name,
    description,
    roleUids: [...row.roleUids],
    maxDuration: durationFromMs(row.maxDuration),
    decisionTime: durationFromMs(row.decisionTime),
    requiredApprovals,
    eligibleRoleUids: [...row.eligibleRoleUids],
    eligibleIdentityUids: [...row.eligibleIdentityUids],
    approverRoleUids: [...row.approverRoleUids],
    approverIdentityUids: [...row.approverIdentityUids],
    reasonPattern,
    breakGlass,
    createTime: toTimestamp(row.createTime),
    updateTime: toTimestamp(row.updateTime),
  };
}

function distinct(uids: AccessRequestRule["roleUids"]): string[] {
  return [...new Set(uids)];
}
