// Finds the rules by which a caller can request a capability.
import { callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { findRoleCapabilities } from "../../../storage/iam/delegations.ts";
import { findRulesAt } from "../../../storage/iam/requests/queries.ts";
import { findHolder, isEligible } from "./eligibility.ts";
import { byPreference, lineOf } from "./grantable.ts";

/** How many rules are looked through, and how many are returned. */
const limits = { read: 100, shown: 20 } as const;

/** The rules by which a caller can request a capability, and the roles that have it. */
export interface Requestable {
  readonly ruleUids: readonly string[];
  readonly roleUids: readonly string[];
}

/** Returns the rules by which the caller can request a role with a capability at a group, best first. */
export async function findRequestableFor(
  session: Session,
  capability: number,
  groupUid: string,
  call: Call,
): Promise<Requestable> {
  const rules = (await findRulesAt(session, lineOf(groupUid))).sort(byPreference).slice(0, limits.read);
  const { uid, token } = callerOf(call);
  const holder = rules.length > 0 ? await findHolder(session, uid, token.mappings ?? []) : undefined;
  if (!holder) return { ruleUids: [], roleUids: [] };
  const ableRoles = await rolesWith(session, capability, [...new Set(rules.flatMap(({ roleUids }) => roleUids))]);
  const found = { ruleUids: [] as string[], roleUids: new Set<string>() };
  for (const rule of rules) {
    const roleUids = rule.roleUids.filter((role) => ableRoles.has(role));
    if (roleUids.length === 0 || !(await isEligible(session, rule, groupUid, holder, session.termTime()))) continue;
    found.ruleUids.push(rule.uid);
    for (const role of roleUids) found.roleUids.add(role);
    if (found.ruleUids.length === limits.shown) break;
  }
  return { ruleUids: found.ruleUids, roleUids: [...found.roleUids] };
}

async function rolesWith(session: Session, capability: number, roleUids: readonly string[]) {
  const able = new Set<string>();
  for (const uid of roleUids) if ((await findRoleCapabilities(session, uid)).includes(capability)) able.add(uid);
  return able;
}
