// Calls of methods that run at the same time in one transaction, where they share statements (PostgreSQL).
import { ReferenceViolation, UniqueViolation } from "../../storage/engine/errors.ts";
import type { Session } from "../../storage/engine/session.ts";
import { allOf } from "../../storage/engine/shared-statements.ts";
import type { JoinedDatabase } from "../../storage/joined-database.ts";
import { applyLimits } from "./limits.ts";

/** Splits items into those that run at the same time, in order: neighbours of one group. An item whose group is empty runs alone. */
export function runsOf<T>(items: readonly T[], groupOf: (item: T) => string): T[][] {
  const runs: T[][] = [];
  let last = "";
  for (const item of items) {
    const group = groupOf(item);
    const open = runs.at(-1);
    if (open && group !== "" && group === last && open.length < applyLimits.concurrentCalls) open.push(item);
    else runs.push([item]);
    last = group;
  }
  return runs;
}

/** Runs a function for all items at the same time. */
export async function runAll<T>(
  database: JoinedDatabase,
  items: readonly T[],
  run: (item: T) => Promise<void>,
): Promise<void> {
  if (items.length > 1) await database.together(() => allOf(items.map(run)));
  else for (const item of items) await run(item);
}

/** Attempts calls at the same time if they can share statements of a remote database. If a shared statement fails, attempts them one after the other. */
export async function attemptTogether<T>(
  { isRemote }: Pick<Session, "isRemote">,
  attempt: (isConcurrent: boolean) => Promise<T>,
): Promise<T> {
  if (!isRemote) return await attempt(false);
  try {
    return await attempt(true);
  } catch (error) {
    // Statements that several calls share do not say which call failed.
    if (!(error instanceof UniqueViolation || error instanceof ReferenceViolation)) throw error;
    return await attempt(false);
  }
}
