// Parts of a write that run at the same time, where they share statements (PostgreSQL).
import { newYield } from "../../base/yielding.ts";
import type { SharedStatements, Transaction } from "./session.ts";

/**
 * Runs a function whose parts run at the same time and must not depend on each other. Its argument has the statements that they share; none
 * where that saves nothing. A shared statement that fails fails the transaction, and not the part that it belongs to.
 */
export async function sharingStatements<T>(
  { shareStatements }: Pick<Transaction, "shareStatements">,
  run: (shared: Pick<SharedStatements, "gather"> | undefined) => Promise<T>,
): Promise<T> {
  const shared = shareStatements?.();
  try {
    return await run(shared);
  } finally {
    shared?.end();
    await Promise.all(shared?.sent ?? []);
  }
}

/** Runs independent parts of a write: at the same time if the database is remote, else one after another, with pauses for other requests. */
export async function runConcurrently<T>(
  tx: Transaction,
  items: readonly T[],
  run: (tx: Transaction, item: T) => Promise<void>,
): Promise<void> {
  if (tx.isRemote) {
    await sharingStatements(tx, async (shared) => {
      const part = shared ? { ...tx, gather: shared.gather } : tx;
      await allOf(items.map((item) => run(part, item)));
    });
    return;
  }
  const pause = newYield();
  for (const item of items) {
    await pause();
    await run(tx, item);
  }
}

/** Waits for all, because a statement that is sent after a rollback would run outside of the transaction. */
export async function allOf(promises: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(promises)) if (result.status === "rejected") throw result.reason;
}
