// Several writes in one transaction: services run on it as on a database of their own.
import { newRowCache } from "./cache/row-cache.ts";
import type { Database } from "./database.ts";
import { newCounterChanges } from "./engine/counters.ts";
import type { ChangeEntry, CounterChanges, SharedStatements, Transaction, WriteContext } from "./engine/session.ts";
import { sharingStatements } from "./engine/shared-statements.ts";

/** A database whose reads and writes all belong to one transaction. Its lists show only what was committed before. */
export interface JoinedDatabase extends Database {
  /**
   * Runs writes at the same time, which must not depend on each other: on PostgreSQL they share statements. Waits for all of them. A
   * shared statement that fails fails the transaction, and not the write that it belongs to.
   */
  together<T>(run: () => Promise<T>): Promise<T>;
  /** The errors of writes that failed, and whose changes are not undone by themselves. */
  readonly failures: readonly unknown[];
  /** The changes of the writes so far. */
  readonly changes: readonly ChangeEntry[];
  /** Whether there were writes, and all of them may run at the same time as writes of others. */
  isIndependent(): boolean;
}

/** A write in a transaction that runs at the same time as others depends on what these do. */
export class DependentWrite extends Error {}

/**
 * Returns the database of a transaction. A write on it sees what earlier writes did, and has its own author and method in the change
 * log. If one fails, the whole transaction has to fail: its changes are not undone by themselves, unless the transaction has parts.
 */
export function joinedDatabase(database: Database, tx: Transaction): JoinedDatabase {
  const { dataVersion: _, seesLatest: __, ...own } = tx;
  let shared: Pick<SharedStatements, "gather"> | undefined;
  const session = { ...own, pendingCounters: countersAbove(tx.counterChanges, tx.pendingCounters) };
  const noted = newNotes();
  const logged: ChangeEntry[] = [];
  return {
    ...database,
    session,
    failures: noted.failures,
    changes: logged,
    isIndependent: noted.isIndependent,
    read: (body) => body(session),
    async write(context, body) {
      noted.begin(context);
      // A write does not see its own changes in counters, as in a transaction of its own.
      const counterChanges = newCounterChanges();
      const by = authorOf(context);
      const changes: ChangeEntry[] = [];
      const run = () => {
        if (tx.context.isIndependent && !context.isIndependent) throw new DependentWrite();
        return body({
          ...session,
          ...(shared && { gather: shared.gather }),
          context: { ...context, time: tx.context.time },
          counterChanges,
          logChange: (entry) => changes.push({ by, ...entry }),
        });
      };
      const result = await (tx.context.hasParts && tx.runPart ? tx.runPart(run) : noted.run(run));
      for (const change of changes) {
        logged.push(change);
        tx.logChange(change);
      }
      counterChanges.addTo(tx.counterChanges);
      return result;
    },
    // Rows of a transaction are in no cache of others, and it rarely reads one twice.
    rows: newRowCache(undefined, session),
    async together(run) {
      return await sharingStatements(tx, async (begun) => {
        shared = begun;
        try {
          return await run();
        } finally {
          shared = undefined;
        }
      });
    },
  };
}

/** Notes which writes failed, and whether all of them may run at the same time as others. */
function newNotes() {
  const failures: unknown[] = [];
  let writes: "none" | "independent" | "dependent" = "none";
  return {
    failures,
    isIndependent: () => writes === "independent",
    begin({ isIndependent }: WriteContext): void {
      if (!isIndependent) writes = "dependent";
      else if (writes === "none") writes = "independent";
    },
    async run<T>(write: () => Promise<T>): Promise<T> {
      try {
        return await write();
      } catch (error) {
        failures.push(error);
        throw error;
      }
    },
  };
}

function authorOf({ actor, actorClaims, method, requestId }: WriteContext) {
  return { actor, method, requestId, actorClaims };
}

/** Returns counter changes that also apply those of earlier transactions in the same commit, whose counters are not stored yet. */
function countersAbove(own: CounterChanges, earlier: CounterChanges | undefined): CounterChanges {
  return {
    ...own,
    forget(key, kind) {
      own.forget(key, kind);
      earlier?.forget(key, kind);
    },
    apply: (key, stored) => own.apply(key, earlier?.apply(key, stored) ?? stored),
  };
}
