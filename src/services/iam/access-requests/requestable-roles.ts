import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { RequestableRoleSchema } from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import { outermost } from "../../../authz/access.ts";
import { nextSlice } from "../../../base/slices.ts";
import { isWithin, rootOf } from "../../../model/uid.ts";
import { callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { groupCollection, roleCollection } from "../../../storage/iam/collections.ts";
import { findRulesIn } from "../../../storage/iam/requests/queries.ts";
import type { AccessRequestRuleRow } from "../../../storage/iam/requests/rows.ts";
import { lookup } from "../role-bindings/hydration.ts";
import { findHolder, type Holder, isEligible } from "./eligibility.ts";
import { organizationsOf } from "./inbox.ts";

/** How many rules of one organization are read. */
const maxRules = 1_000;

/** How many roles a response has. */
const maxShown = 1_000;

/** Returns the roles that the caller may request, and where: at a group only, if it is not empty. */
export async function findRequestable(
  session: Session,
  group: string,
  call: Call,
): Promise<MessageInitShape<typeof RequestableRoleSchema>[]> {
  const { uid, token } = callerOf(call);
  const holder = await findHolder(session, uid, token.mappings ?? []);
  if (!holder) return [];
  const [roles, groups] = [lookup(session, roleCollection), lookup(session, groupCollection)];
  const found: MessageInitShape<typeof RequestableRoleSchema>[] = [];
  for (const organization of await organizationsOf(session, holder)) {
    if (group !== "" && rootOf(group) !== organization) continue;
    for (const rule of await findRulesIn(session, organization, maxRules))
      for (const groupUid of await placesOf(session, rule, group, holder))
        for (const roleUid of rule.roleUids) {
          await nextSlice();
          if (found.length === maxShown) return found;
          const [role, place] = [await roles(roleUid), await groups(groupUid)];
          if (role && place)
            found.push({ ...shown(rule), groupUid, groupName: place.name, roleUid, roleName: role.name });
        }
  }
  return found;
}

function shown(rule: AccessRequestRuleRow) {
  const { uid: ruleUid, name: ruleName, maxDuration, requiredApprovals, reasonPattern, breakGlass } = rule;
  return { ruleUid, ruleName, maxDuration: durationFromMs(maxDuration), requiredApprovals, reasonPattern, breakGlass };
}

/** Returns the groups, without descendants of each other, at which an identity may make requests by a rule. */
async function placesOf(
  session: Session,
  rule: AccessRequestRuleRow,
  group: string,
  holder: Holder,
): Promise<readonly string[]> {
  const now = session.termTime();
  if (group !== "")
    return isWithin(group, rule.parent) && (await isEligible(session, rule, group, holder, now)) ? [group] : [];
  if (await isEligible(session, rule, rule.parent, holder, now)) return [rule.parent];
  const below = holder.roles.filter(
    ({ roleUid, groupUid }) => rule.eligibleRoleUids.includes(roleUid) && isWithin(groupUid, rule.parent),
  );
  return outermost(below.map(({ groupUid }) => groupUid));
}
