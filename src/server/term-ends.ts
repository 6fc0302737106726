// Deletes role bindings whose term has ended, and closes access reviews that are due. What has ended grants nothing before that, so the
// deletion may be late. One server at a time does it, under a lease.
import { closeBatch } from "../services/access/reviews/closing.ts";
import { closeDueRequests } from "../services/iam/access-requests/due-requests.ts";
import { deleteEnded } from "../services/iam/users/ended-bindings.ts";
import type { Transaction, WriteContext } from "../storage/engine/session.ts";
import { findDueRequests } from "../storage/iam/requests/queries.ts";
import { findEndingReviews } from "../storage/iam/reviews/queries.ts";
import { findEnded } from "../storage/iam/role-bindings.ts";
import { isLeaseFree, type Lease, releaseLease, takeLease } from "../storage/installation/lease.ts";
import { every, type PeriodicTask } from "./every.ts";
import { limits } from "./limits.ts";
import type { ServerContext } from "./server-context.ts";
import type { ServerStorage } from "./storage.ts";

/** Another server can take over from a dead one after this time. */
const lease: Lease = { name: "term_ends_lease", length: 3_000 };

/** How many bindings, and how many items of a review, a transaction works on. */
const batchSize = 200;

const work = { actor: "", method: "term_ends", requestId: "", isBulk: true, isAlone: true } as const;

/** Starts to delete what has ended, and to close reviews; of several workers, one does it. Disposing waits for the transaction in progress. */
export function deleteEndedBindings(context: ServerContext, { database }: ServerStorage): PeriodicTask {
  const { clock, log, draining, nodeId, group } = context;
  if (group?.isWriter === false) return { runNow: async () => {}, [Symbol.asyncDispose]: async () => {} };
  const newWrite = (): WriteContext => ({ ...work, time: clock() });
  let holdsLease = false;

  /** Runs one batch under the lease. */
  async function underLease(batch: (tx: Transaction) => Promise<unknown>): Promise<void> {
    await database.write(newWrite(), async (tx) => {
      holdsLease = (await takeLease(tx, lease, nodeId)) !== undefined;
      if (holdsLease) await batch(tx);
    });
  }

  async function deleteBatch(tx: Transaction): Promise<void> {
    await closeDueRequests(tx, batchSize);
    await deleteEnded(tx, await findEnded(tx, batchSize));
  }

  /** Runs one batch of each kind of work. Returns whether there may be more. */
  async function runBatches(): Promise<boolean> {
    const { session } = database;
    const hasEnds = (await findEnded(session, 1)).length + (await findDueRequests(session, 1)).length > 0;
    if (hasEnds) await underLease(deleteBatch);
    const hasReviews = (await findEndingReviews(session, 1)).length > 0;
    // A large review takes many batches, between which other role bindings end in time.
    if (hasReviews) await underLease((tx) => closeBatch(tx, batchSize));
    return hasEnds || hasReviews;
  }

  async function run(): Promise<void> {
    // Sets the clock of terms, which no request may have done for a while.
    await database.accessEpoch.current();
    while (!draining.aborted && (await isLeaseFree(database.session, lease, nodeId, clock())))
      if (!(await runBatches())) return;
  }

  const logFailure = (error: unknown) =>
    log.warn({ err: error }, "role bindings that have ended could not be deleted, or access reviews not be closed");
  const repeated = every(limits.termEndsMs, run, { logFailure, signal: draining });
  return {
    runNow: repeated.runNow,
    async [Symbol.asyncDispose]() {
      await repeated[Symbol.asyncDispose]();
      if (holdsLease) await database.write(newWrite(), (tx) => releaseLease(tx, lease, nodeId)).catch(logFailure);
    },
  };
}
