// Decides who may request and who may approve. Both are read again whenever it matters, so nothing outlives a lost role.
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { isWithin, rootOf } from "../../../model/uid.ts";
import { findRow, findRows } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { externalGroupRoleMappingCollection, identityCollection } from "../../../storage/iam/collections.ts";
import { findRoleCapabilities } from "../../../storage/iam/delegations.ts";
import { groupInForce } from "../../../storage/iam/grants.ts";
import { findHeldRoles } from "../../../storage/iam/held-roles.ts";
import type { AccessRequestRuleRow } from "../../../storage/iam/requests/rows.ts";
import { suspendedOrganizations } from "../../../storage/iam/scim-suspensions.ts";
import { newEvaluator } from "../delegations/active-delegations.ts";
import { effectiveMappings } from "../delegations/effective-mappings.ts";
import { noEnd } from "../rules/escalation.ts";
import { isKnownAt } from "../users/membership.ts";
import { isUserUid } from "../users/user-uid.ts";

/** How many role bindings of one identity count. */
const maxBindings = 2_000;

/** A role that an identity holds now, at a group and its descendants. */
export interface HeldRole {
  readonly roleUid: string;
  readonly groupUid: string;
  /** When the identity loses it, in milliseconds since the epoch; `noEnd` if it does not. */
  readonly end: number;
}

/** An identity with the roles that it holds now. */
export interface Holder {
  readonly uid: string;
  readonly roles: readonly HeldRole[];
}

/** Reads an identity with what it holds by role bindings, and by the mappings of a session; undefined if it was deleted. */
export async function findHolder(
  session: Session,
  uid: string,
  mappingUids: readonly string[],
): Promise<Holder | undefined> {
  if (!(await findRow(session, identityCollection, uid))) return undefined;
  const page = { descending: false, after: "", skip: 0, limit: maxBindings };
  const time = session.termTime();
  const bound = (await findHeldRoles(session, { identityUid: uid, time }, page)).flatMap((binding) => {
    const groupUid = groupInForce(uid, binding, time);
    return groupUid === undefined ? [] : [{ roleUid: binding.roleUid, groupUid, end: binding.expireTime ?? noEnd }];
  });
  return { uid, roles: [...bound, ...(await findMapped(session, uid, mappingUids))] };
}

async function findMapped(session: Session, uid: string, mappingUids: readonly string[]): Promise<HeldRole[]> {
  const uids = await effectiveMappings(session, uid, mappingUids);
  if (uids.length === 0) return [];
  const named = uids.map((mapping) => ({ kind: "external_group_role_mappings" as const, uid: mapping }));
  const { terms } = await newEvaluator(session).termsOf(named);
  const ends = new Map(
    uids.flatMap((mapping, i) => {
      const term = terms[i]!.find(({ startTime }) => startTime === null);
      return term ? [[mapping, term.expireTime ?? noEnd] as const] : [];
    }),
  );
  const rows = await findRows(session, externalGroupRoleMappingCollection, [...ends.keys()]);
  return rows.map(({ uid: mapping, roleUid, scope }) => ({ roleUid, groupUid: scope, end: ends.get(mapping)! }));
}

/** Whether an identity may make requests by a rule at a group, for roles that end by then. */
export async function isEligible(
  session: Session,
  rule: AccessRequestRuleRow,
  groupUid: string,
  holder: Holder,
  end: number,
): Promise<boolean> {
  if (holdsOneOf(holder, rule.eligibleRoleUids, groupUid, end)) return true;
  return rule.eligibleIdentityUids.includes(holder.uid) && (await belongsTo(session, holder.uid, groupUid));
}

/**
 * Whether a person may approve requests by a rule at a group, for roles that end by then: nobody gives access for longer than they hold the
 * right to. The rule is undefined if it was deleted.
 */
export async function isApprover(
  session: Session,
  rule: AccessRequestRuleRow | undefined,
  groupUid: string,
  holder: Holder,
  end: number,
): Promise<boolean> {
  const { approverRoleUids = [], approverIdentityUids = [] } = rule ?? {};
  if (!isUserUid(holder.uid)) return false;
  if (approverRoleUids.length + approverIdentityUids.length === 0) return await mayBind(session, holder, groupUid, end);
  if (holdsOneOf(holder, approverRoleUids, groupUid, end)) return true;
  return approverIdentityUids.includes(holder.uid) && (await belongsTo(session, holder.uid, groupUid));
}

function holdsOneOf({ roles }: Holder, roleUids: readonly string[], groupUid: string, end: number): boolean {
  return roles.some((held) => roleUids.includes(held.roleUid) && isWithin(groupUid, held.groupUid) && held.end >= end);
}

async function mayBind(session: Session, { roles }: Holder, groupUid: string, end: number): Promise<boolean> {
  for (const held of roles)
    if (
      isWithin(groupUid, held.groupUid) &&
      held.end >= end &&
      (await findRoleCapabilities(session, held.roleUid)).includes(Capability.CAP_IAM_ROLE_BINDINGS_CREATE)
    )
      return true;
  return false;
}

/** Whether an identity that a rule names belongs to the organization: who left it or is deactivated there has lost the right. */
export async function belongsTo(session: Session, uid: string, groupUid: string): Promise<boolean> {
  if (!(await isKnownAt(session, uid, groupUid))) return false;
  return !(await suspendedOrganizations(session, uid)).has(rootOf(groupUid));
}
