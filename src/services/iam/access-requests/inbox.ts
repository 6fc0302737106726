// The requests of a caller, and those that wait for a decision of the caller.
import { nextSlice } from "../../../base/slices.ts";
import { rootOf } from "../../../model/uid.ts";
import { callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { findRows } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { findMembershipsOf } from "../../../storage/iam/memberships.ts";
import { accessRequestRuleCollection } from "../../../storage/iam/requests/collections.ts";
import { findPendingIn, findRequestsOf } from "../../../storage/iam/requests/queries.ts";
import type { AccessRequestRow } from "../../../storage/iam/requests/rows.ts";
import { isUserUid } from "../users/user-uid.ts";
import { isOwn } from "./decisions.ts";
import { findHolder, type Holder, isApprover } from "./eligibility.ts";

/** How many requests a caller sees of their own, and of others. */
const limits = { own: 100, toDecide: 200 } as const;

/** How many pending requests of one organization are read to find those that the caller may decide. */
const maxScanned = 1_000;

/** The requests of a caller, and those that wait for a decision of the caller. */
interface Inbox {
  readonly own: readonly AccessRequestRow[];
  readonly toDecide: readonly AccessRequestRow[];
}

/** Reads the inbox of the caller. */
export async function findInbox(session: Session, call: Call): Promise<Inbox> {
  const { uid, token } = callerOf(call);
  const own = await findRequestsOf(session, uid, limits.own);
  const holder = await findHolder(session, uid, token.mappings ?? []);
  // Workloads decide nothing.
  if (!holder || !isUserUid(uid)) return { own, toDecide: [] };
  const toDecide: AccessRequestRow[] = [];
  for (const organization of await organizationsOf(session, holder))
    toDecide.push(...(await findToDecide(session, organization, holder)));
  toDecide.sort((a, b) => a.decideBeforeTime - b.decideBeforeTime);
  return { own, toDecide: toDecide.slice(0, limits.toDecide) };
}

async function findToDecide(session: Session, organization: string, holder: Holder): Promise<AccessRequestRow[]> {
  const now = session.termTime();
  const pending = (await findPendingIn(session, organization, maxScanned)).filter(({ dueTime }) => dueTime! > now);
  const ruleUids = [...new Set(pending.map(({ ruleUid }) => ruleUid))];
  const rules = new Map(
    (await findRows(session, accessRequestRuleCollection, ruleUids)).map((rule) => [rule.uid, rule]),
  );
  const found: AccessRequestRow[] = [];
  for (const row of pending) {
    await nextSlice();
    const rule = rules.get(row.ruleUid);
    const isDecided = row.decisions.some(({ approverUid }) => approverUid === holder.uid);
    if (!rule || isDecided || !(await isApprover(session, rule, row.parent, holder))) continue;
    if (!(await isOwn(session, row, holder.uid))) found.push(row);
  }
  return found;
}

/** Returns the organizations to which an identity belongs, or in which it holds a role. */
export async function organizationsOf(session: Session, { uid, roles }: Holder): Promise<ReadonlySet<string>> {
  const joined = isUserUid(uid)
    ? (await findMembershipsOf(session, [uid])).map(({ groupUid }) => groupUid)
    : [rootOf(uid)];
  return new Set([...joined, ...roles.map(({ groupUid }) => rootOf(groupUid))]);
}
