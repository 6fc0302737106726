// Stores the responses of calls that had an idempotency key.
import { placeholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Transaction } from "../engine/session.ts";
import { eq, getTableColumns, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";

/** The response of a call. */
export type CallOutcomeRow = Tables["callOutcomes"]["$inferSelect"];

/**
 * Locks a key until the end of the transaction, and returns whether no other transaction has it: this one then sees what others stored.
 * Never waits. One writer at a time needs no lock.
 */
export async function tryLockOutcome(tx: Transaction, keyDigest: string): Promise<boolean> {
  const lock = tx.textLocks?.tryExclusive;
  if (!lock) return true;
  const statement = tx.prepared("call_outcomes.lock", (db) =>
    db
      .select({ isLocked: sql<boolean>`is_locked` })
      .from(sql`${lock}(hashtextextended(${textPlaceholder("keyDigest")}, 0)) AS is_locked`),
  );
  const [row] = await statement.execute({ keyDigest });
  return row?.isLocked === true;
}

/** Returns the stored outcome of a key, also an expired one, or undefined. */
export async function findOutcome(tx: Transaction, keyDigest: string): Promise<CallOutcomeRow | undefined> {
  const statement = tx.prepared("call_outcomes.get", (db, { callOutcomes }) =>
    db
      .select()
      .from(callOutcomes)
      .where(eq(callOutcomes.keyDigest, sql.placeholder("keyDigest"))),
  );
  const [row] = await statement.execute({ keyDigest });
  return row;
}

/** Stores an outcome. */
export async function insertOutcome(tx: Transaction, row: CallOutcomeRow): Promise<void> {
  const statement = tx.prepared("call_outcomes.insert", (db, { callOutcomes }) =>
    db.insert(callOutcomes).values(placeholders(Object.keys(getTableColumns(callOutcomes))) as never),
  );
  await statement.execute(row);
}

/** Deletes the outcome of a key, which has expired. */
export async function deleteOutcome(tx: Transaction, keyDigest: string): Promise<void> {
  const statement = tx.prepared("call_outcomes.delete", (db, { callOutcomes }) =>
    db.delete(callOutcomes).where(eq(callOutcomes.keyDigest, sql.placeholder("keyDigest"))),
  );
  await statement.execute({ keyDigest });
}
