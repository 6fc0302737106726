// Runs the writes of one batch in the transaction that they share.
import type pg from "pg";
import type { DialectTransaction } from "../dialect.ts";
import { StorageReadOnly } from "../errors.ts";
import type { WriteLifetime } from "../session.ts";
import { isLostConnection, isStaleStatement } from "./errors.ts";
import { type BatchTransaction, newMember, newSharedStatements } from "./write-member.ts";

/** The body of a write. */
export type WriteBody<T> = (tx: DialectTransaction) => Promise<T>;

/** A write of a queue. */
export interface Job {
  readonly body: WriteBody<unknown>;
  readonly isIndependent: boolean;
  readonly dueAt: number;
  readonly lifetime: WriteLifetime | undefined;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** The outcome of a write of a batch. */
export interface Outcome {
  readonly job: Job;
  readonly result: PromiseSettledResult<unknown>;
}

/** The writes of a batch, which has not committed. */
export interface Batch {
  readonly tx: DialectTransaction;
  readonly outcomes: readonly Outcome[];
  /** The statements that no write waited for. */
  readonly sent: readonly Promise<void>[];
}

/** A statement of a batch failed, or a write failed after it had changed rows. */
export class FailedBatch extends Error {}

/** Rejects with FailedBatch, unless the error is due to no write of the batch. */
export async function failingAsBatch<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (cause) {
    throw isUnusable(cause) ? cause : new FailedBatch("a batch of writes failed", { cause });
  }
}

/** Whether no write can succeed on this connection. */
function isUnusable(error: unknown): boolean {
  return isLostConnection(error) || isStaleStatement(error) || error instanceof StorageReadOnly;
}

/** The outcomes of the writes of a batch, and the number of sent ones. */
type Ran = Pick<Batch, "outcomes" | "sent">;

/** Runs independent writes at the same time, and the others one after another. Throws FailedBatch. */
export async function runTogether(client: pg.PoolClient, batch: BatchTransaction, jobs: readonly Job[]): Promise<Ran> {
  let hasPartialWrite = false;
  let previous: Promise<unknown> = Promise.resolve();
  const shared = newSharedStatements(batch);

  async function run(job: Job): Promise<Outcome> {
    const member = newMember(batch, job.isIndependent ? shared.gather : undefined);
    const [result] = await Promise.allSettled([job.body(member.tx)]);
    member.end();
    if (result.status === "rejected" && member.hasWritten()) hasPartialWrite = true;
    return { job, result };
  }

  // Waits for all of them, since a statement that is sent after ROLLBACK would commit on its own.
  const outcomes = await Promise.all(
    jobs.map((job) => {
      if (job.isIndependent) return run(job);
      const outcome = previous.then(() => run(job));
      previous = outcome;
      return outcome;
    }),
  );
  shared.end();
  for (const { result } of outcomes) if (result.status === "rejected" && isUnusable(result.reason)) throw result.reason;
  const hasFailedStatement = client.getTransactionStatus() === "E";
  if (hasFailedStatement || hasPartialWrite) throw new FailedBatch("a write failed after it had changed rows");
  return { outcomes, sent: shared.sent };
}

/** Runs the writes one after another, and undoes those that fail. */
export async function runGuarded(client: pg.PoolClient, batch: BatchTransaction, jobs: readonly Job[]): Promise<Ran> {
  const outcomes: Outcome[] = [];
  await batch.begun;
  for (const job of jobs) {
    await client.query("SAVEPOINT member");
    const member = newMember(batch);
    const [result] = await Promise.allSettled([job.body(member.tx)]);
    member.end();
    if (result.status === "rejected") {
      if (isUnusable(result.reason)) throw result.reason;
      await client.query("ROLLBACK TO SAVEPOINT member");
    }
    await client.query("RELEASE SAVEPOINT member");
    outcomes.push({ job, result });
  }
  return { outcomes, sent: [] };
}
