// The requests of a caller, and those that wait for a decision of the caller.
import { nextSlice } from "../../../base/slices.ts";
import { rootOf } from "../../../model/uid.ts";
import { callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { findRows } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { findMembershipsOf } from "../../../storage/iam/memberships.ts";
import { accessRequestRuleCollection } from "../../../storage/iam/requests/collections.ts";
import { findPendingIn, findRequestsOf, findUnacknowledgedIn } from "../../../storage/iam/requests/queries.ts";
import type { AccessRequestRow } from "../../../storage/iam/requests/rows.ts";
import { noEnd } from "../rules/escalation.ts";
import { isUserUid } from "../users/user-uid.ts";
import { isOwn } from "./decisions.ts";
import { findHolder, type Holder, isApprover } from "./eligibility.ts";

/** How many requests a caller sees of their own, and of others. */
const limits = { own: 100, waiting: 200 } as const;

/** How many requests of one organization are read to find those that wait for the caller. */
const maxScanned = 1_000;

/** The requests of a caller, and those that wait for the caller. */
interface Inbox {
  readonly own: readonly AccessRequestRow[];
  readonly toDecide: readonly AccessRequestRow[];
  readonly toAcknowledge: readonly AccessRequestRow[];
}

/** Reads the inbox of the caller. */
export async function findInbox(session: Session, call: Call): Promise<Inbox> {
  const { uid, token } = callerOf(call);
  const own = await findRequestsOf(session, uid, limits.own);
  const holder = await findHolder(session, uid, token.mappings ?? []);
  // Workloads decide nothing.
  if (!holder || !isUserUid(uid)) return { own, toDecide: [], toAcknowledge: [] };
  const [toDecide, toAcknowledge]: [AccessRequestRow[], AccessRequestRow[]] = [[], []];
  for (const organization of await organizationsOf(session, holder)) {
    toDecide.push(...(await findToDecide(session, organization, holder)));
    toAcknowledge.push(...(await findToAcknowledge(session, organization, holder)));
  }
  toDecide.sort((a, b) => a.decideBeforeTime - b.decideBeforeTime);
  toAcknowledge.sort((a, b) => a.createTime - b.createTime);
  return {
    own,
    toDecide: toDecide.slice(0, limits.waiting),
    toAcknowledge: toAcknowledge.slice(0, limits.waiting),
  };
}

async function findToDecide(session: Session, organization: string, holder: Holder): Promise<AccessRequestRow[]> {
  const now = session.termTime();
  const pending = (await findPendingIn(session, organization, maxScanned)).filter(({ dueTime }) => dueTime! > now);
  const undecided = pending.filter(({ decisions }) => decisions.every(({ approverUid }) => approverUid !== holder.uid));
  return await approvableAmong(session, undecided, holder, ({ duration }) => now + duration);
}

async function findToAcknowledge(session: Session, organization: string, holder: Holder): Promise<AccessRequestRow[]> {
  const open = await findUnacknowledgedIn(session, organization, maxScanned);
  return await approvableAmong(session, open, holder, () => noEnd);
}

/** Returns the requests of others that a person may approve until the end that each of them needs. */
async function approvableAmong(
  session: Session,
  rows: readonly AccessRequestRow[],
  holder: Holder,
  endOf: (row: AccessRequestRow) => number,
): Promise<AccessRequestRow[]> {
  const ruleUids = [...new Set(rows.map(({ ruleUid }) => ruleUid))];
  const rules = new Map(
    (await findRows(session, accessRequestRuleCollection, ruleUids)).map((rule) => [rule.uid, rule]),
  );
  const found: AccessRequestRow[] = [];
  for (const row of rows) {
    await nextSlice();
    if (!(await isApprover(session, rules.get(row.ruleUid), row.parent, holder, endOf(row)))) continue;
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
