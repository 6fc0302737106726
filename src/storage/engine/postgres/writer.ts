// Writes to PostgreSQL: in batches, or each in a transaction of its own.
import type pg from "pg";
import type { DatabaseHooks, DatabaseLimits, Dialect, WriteKind } from "../dialect.ts";
import { ConcurrencyConflict, driverCode, ReferenceViolation } from "../errors.ts";
import { newSemaphore } from "../semaphore.ts";
import { requireLifetime, type Session, type WriteLifetime } from "../session.ts";
import { translatePostgresError } from "./errors.ts";
import type { PostgresPool } from "./pool.ts";
import { batchTransactionOf, type LogLocks, ownTransactionOf } from "./transaction.ts";
import type { WriteBody } from "./write-batch.ts";
import { WriteQueue, type WriteQueueOptions } from "./write-queue.ts";

/** How often a transaction of its own is tried. */
const maxTries = 4;

/** How many bulk writes share one commit. Other writes of the organization wait for its counters meanwhile. */
const maxBulkBatch = 32;

/** The share of the connections that writes may hold. While they wait for locks, the rest keeps serving reads. */
const writingShare = 3 / 4;

/** Writes to a database. */
export interface Writer {
  readonly write: Dialect["write"];
  readonly rehearse: Dialect["rehearse"];
  /** Resolves once no batch waits. */
  idle(): Promise<void>;
}

/** Ends a transaction that is rolled back on purpose. */
class Rehearsed extends Error {}

/** Creates the writer of a pool. `sessionOf` returns the session of a connection, `locks` are those of the change log. */
export function newWriter(
  pool: Pick<PostgresPool, "write">,
  sessionOf: (client: pg.PoolClient) => Session,
  limits: DatabaseLimits,
  log: DatabaseHooks["log"],
  locks: LogLocks,
): Writer {
  const writers = writersOf(limits);

  function runAlone<T>(body: WriteBody<T>, lifetime?: WriteLifetime): Promise<T> {
    const attempt = (isRetry: boolean) =>
      pool.write(async (client, begun) => {
        requireLifetime(lifetime);
        await begun;
        const result = await body(ownTransactionOf(client, sessionOf(client), locks, isRetry));
        requireLifetime(lifetime);
        return result;
      });
    return writers.run(() => retried(attempt));
  }

  /** The locks of such a transaction are those of its organization. */
  async function rehearse<T>(body: WriteBody<T>): Promise<T> {
    const rehearsed = new Rehearsed();
    let result: T | undefined;
    try {
      await runAlone(async (tx) => {
        result = await body(tx);
        throw rehearsed;
      });
    } catch (error) {
      if (error !== rehearsed) throw error;
    }
    return result as T;
  }

  const options: WriteQueueOptions = {
    maxBatch: limits.maxBatch,
    maxWaiting: limits.maxWaiting,
    maxWaitMs: limits.lockTimeoutMs,
    transact: (body, finish) => pool.write(body, { lockTimeoutMs: batchLockTimeoutMs(limits), finish }),
    newTransaction: (client) => batchTransactionOf(client, sessionOf(client), locks),
    async finish(tx) {
      // In this order for all writers, which prevents deadlocks.
      await Promise.all([tx.pendingCounters!.write(tx), log(tx, tx.pendingLog!, tx.pendingExports!)]);
    },
    runAlone,
    needsRetry,
  };
  const queue = new WriteQueue(options);
  const bulkQueue = new WriteQueue({ ...options, maxBatch: maxBulkBatch });

  return {
    rehearse,
    write: (body, kind) =>
      needsOwnTransaction(kind)
        ? runAlone(body, kind.lifetime)
        : (kind.isBulk ? bulkQueue : queue).run(body, kind.isIndependent ?? false, kind.lifetime),
    idle: async () => void (await Promise.all([queue.idle(), bulkQueue.idle()])),
  };
}

/** Returns the semaphore of transactions of their own. */
function writersOf({ poolSize, maxWaiting, lockTimeoutMs: maxWaitMs }: DatabaseLimits) {
  return newSemaphore({ permits: Math.max(1, Math.floor(poolSize * writingShare)), maxWaiting, maxWaitMs });
}

/** A savepoint of a part would also undo what other writes of a batch do meanwhile. */
function needsOwnTransaction({ isAlone, isLarge, hasParts }: WriteKind): boolean {
  return Boolean(isAlone || isLarge || hasParts);
}

/** How long a batch waits for a lock, in milliseconds. A write that needs longer waits in a transaction of its own. */
function batchLockTimeoutMs({ lockTimeoutMs }: DatabaseLimits): number {
  return Math.min(200, lockTimeoutMs);
}

async function retried<T>(attempt: (isRetry: boolean) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(tries > 1);
    } catch (error) {
      if (tries >= maxTries || !needsRetry(error)) throw translatePostgresError(error);
    }
  }
}

/**
 * Returns whether to run the transaction again: after a serialization failure, a deadlock, a concurrency conflict, or a
 * violated reference. On the next run it sees the rows that other writers committed, and reports what it finds.
 */
function needsRetry(error: unknown): boolean {
  const code = driverCode(error);
  return (
    code === "40001" || code === "40P01" || error instanceof ConcurrencyConflict || error instanceof ReferenceViolation
  );
}
