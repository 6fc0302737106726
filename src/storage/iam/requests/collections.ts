// The collections of access requests and their rules, and what happens to requests when something that they refer to is deleted.
import { AccessRequestsService } from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import type { Collection } from "../../collection/collection.ts";
import { loggedAs, nobody } from "../../collection/logged-as.ts";
import { deleteRow, updateRow } from "../../collection/rows.ts";
import type { Transaction } from "../../engine/session.ts";
import { forgetVouchers, vouch } from "../delegations.ts";
import { findClosedRequests, findOpenRequestsOf } from "./queries.ts";
import type { AccessRequestRow, AccessRequestRuleRow, RequestState } from "./rows.ts";

export const accessRequestRuleCollection: Collection<AccessRequestRuleRow> = {
  kind: "access_request_rules",
  rows: (tables) => tables.accessRequestRules,
  entries: (tables) => tables.accessRequestRuleEntries,
  changesAccess: [],
  syncDependents: keepRule,
};

export const accessRequestCollection: Collection<AccessRequestRow> = {
  kind: "access_requests",
  rows: (tables) => tables.accessRequests,
  entries: (tables) => tables.accessRequestEntries,
  internal: ["session"],
  changesAccess: [],
};

/** The identity that writes a rule vouches for it. A deleted rule cancels its pending requests. */
async function keepRule(tx: Transaction, before?: AccessRequestRuleRow, after?: AccessRequestRuleRow): Promise<void> {
  if (after) return await vouch(tx, "access_request_rules", after.uid, []);
  await forgetVouchers(tx, before!.uid);
  await closeRequests(tx, "ruleUid", before!.uid, "PENDING");
}

/** Cancels the pending requests of a deleted identity. */
export async function cancelRequestsOf(tx: Transaction, identityUid: string): Promise<void> {
  await closeRequests(tx, "identityUid", identityUid, "PENDING");
}

/** Ends the active requests that gave a role by a deleted binding. */
export async function endRequestsOf(tx: Transaction, roleBindingUid: string): Promise<void> {
  await closeRequests(tx, "roleBindingUid", roleBindingUid, "ACTIVE");
}

/** Deletes requests that were over at a time, `limit` at most. Returns whether nothing is left. The change log keeps them. */
export async function removeClosedRequests(tx: Transaction, time: number, limit: number): Promise<boolean> {
  const closed = await findClosedRequests(tx, time, limit);
  for (const row of closed) await deleteRow(tx, accessRequestCollection, row);
  return closed.length < limit;
}

async function closeRequests(
  tx: Transaction,
  column: "ruleUid" | "identityUid" | "roleBindingUid",
  uid: string,
  state: "PENDING" | "ACTIVE",
): Promise<void> {
  for (const row of await findOpenRequestsOf(tx, column, uid))
    if (row.state === state) await closeRequest(tx, row, state === "PENDING" ? "CANCELLED" : "ENDED");
}

/** The method in the change log of requests by break-glass: their creation is an event of its own. */
export const breakGlassCause = "access_request_break_glass";

/** The causes in the change log: the methods that a caller would use, and the passing of the time for decisions. */
const causes: Readonly<Record<"CANCELLED" | "ENDED" | "EXPIRED", string>> = {
  CANCELLED: pathOf("CancelAccessRequest"),
  ENDED: pathOf("EndAccessRequest"),
  EXPIRED: "access_request_expiry",
};

/** The method in the change log by which requests expire. */
export const expiryCause = causes.EXPIRED;

function pathOf(method: string): string {
  return `/${AccessRequestsService.typeName}/${method}`;
}

/** Closes an open request as a consequence of something else: of the passing of its time, or of a change of the actor. */
export async function closeRequest(
  tx: Transaction,
  row: AccessRequestRow,
  state: "CANCELLED" | "ENDED" | "EXPIRED",
): Promise<AccessRequestRow> {
  const isDue = row.dueTime !== null && row.dueTime <= tx.termTime();
  const logged = loggedAs(tx, causes[state], isDue ? nobody : tx.context);
  return await updateRow(logged, accessRequestCollection, row, closed(row, state, tx.termTime()));
}

/** Returns a request in a final state. */
export function closed(row: AccessRequestRow, state: RequestState, now: number): AccessRequestRow {
  const expireTime = row.expireTime === null ? null : Math.min(row.expireTime, now);
  return { ...row, state, expireTime, dueTime: null, closeTime: now };
}
