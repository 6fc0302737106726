import type { Transaction } from "../../../storage/engine/session.ts";
import { closeRequest } from "../../../storage/iam/requests/collections.ts";
import { findDueRequests } from "../../../storage/iam/requests/queries.ts";

/**
 * Closes requests whose time for decisions has passed, and those whose role has ended, `limit` at most. Returns how many. The role binding
 * of an ended request ends with it, or later by another request or term.
 */
export async function closeDueRequests(tx: Transaction, limit: number): Promise<number> {
  const due = await findDueRequests(tx, limit);
  for (const row of due) await closeRequest(tx, row, row.state === "PENDING" ? "EXPIRED" : "ENDED");
  return due.length;
}
