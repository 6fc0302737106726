// Stores the responses of calls that had an idempotency key.
import { jsonRows, selectRows } from "../engine/json-rows.ts";
import { placeholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
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
  const lockAll = async (session: Session, digests: readonly string[]) => {
    const statement = session.prepared("call_outcomes.lock", (db) =>
      db
        .select({ digest: sql<string>`value`, isLocked: sql<boolean>`${lock}(hashtextextended(value, 0))` })
        .from(sql`${session.textsOf(textPlaceholder("digests"))} as digests`),
    );
    const rows = await statement.execute({ digests: JSON.stringify(digests) });
    return new Set(rows.filter(({ isLocked }) => isLocked).map(({ digest }) => digest));
  };
  const locked = tx.gather
    ? await tx.gather.read("call_outcomes.lock", [keyDigest], lockAll)
    : await lockAll(tx, [keyDigest]);
  return locked.has(keyDigest);
}

/** Returns the stored outcome of a key, also an expired one, or undefined. */
export async function findOutcome(tx: Transaction, keyDigest: string): Promise<CallOutcomeRow | undefined> {
  if (tx.gather) return (await tx.gather.read("call_outcomes.get", [keyDigest], findOutcomes)).get(keyDigest);
  const statement = tx.prepared("call_outcomes.get", (db, { callOutcomes }) =>
    db
      .select()
      .from(callOutcomes)
      .where(eq(callOutcomes.keyDigest, sql.placeholder("keyDigest"))),
  );
  const [row] = await statement.execute({ keyDigest });
  return row;
}

async function findOutcomes(
  session: Session,
  digests: readonly string[],
): Promise<ReadonlyMap<string, CallOutcomeRow>> {
  const statement = session.prepared("call_outcomes.get_all", (db, { callOutcomes }) =>
    db
      .select()
      .from(callOutcomes)
      .where(session.isAmong(callOutcomes.keyDigest, textPlaceholder("digests"))),
  );
  const rows = await statement.execute({ digests: JSON.stringify(digests) });
  return new Map(rows.map((row) => [row.keyDigest, row]));
}

/** Stores an outcome. */
export async function insertOutcome(tx: Transaction, row: CallOutcomeRow): Promise<void> {
  if (tx.gather) return await tx.gather.write("call_outcomes.insert", [row], insertOutcomes);
  const statement = tx.prepared("call_outcomes.insert", (db, { callOutcomes }) =>
    db.insert(callOutcomes).values(placeholders(Object.keys(getTableColumns(callOutcomes))) as never),
  );
  await statement.execute(row);
}

async function insertOutcomes(session: Session, rows: readonly CallOutcomeRow[]): Promise<void> {
  const statement = session.prepared("call_outcomes.insert_all", (db, { callOutcomes }) =>
    db.insert(callOutcomes).select(selectRows(getTableColumns(callOutcomes))),
  );
  await statement.execute({ rows: jsonRows(getTableColumns(session.tables.callOutcomes), rows) });
}

/** Deletes the outcome of a key, which has expired. */
export async function deleteOutcome(tx: Transaction, keyDigest: string): Promise<void> {
  const statement = tx.prepared("call_outcomes.delete", (db, { callOutcomes }) =>
    db.delete(callOutcomes).where(eq(callOutcomes.keyDigest, sql.placeholder("keyDigest"))),
  );
  await statement.execute({ keyDigest });
}
