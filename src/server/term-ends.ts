// Deletes role bindings whose term has ended. They grant nothing before that, so the deletion may be late. One server at a time does it,
// under a lease.
import { closeDueRequests } from "../services/iam/access-requests/due-requests.ts";
import { deleteEnded } from "../services/iam/users/ended-bindings.ts";
import type { WriteContext } from "../storage/engine/session.ts";
import { findDueRequests } from "../storage/iam/requests/queries.ts";
import { findEnded } from "../storage/iam/role-bindings.ts";
import { isLeaseFree, type Lease, releaseLease, takeLease } from "../storage/installation/lease.ts";
import { every } from "./every.ts";
import { limits } from "./limits.ts";
import type { ServerContext } from "./server-context.ts";
import type { ServerStorage } from "./storage.ts";

/** Another server can take over from a dead one after this time. */
const lease: Lease = { name: "term_ends_lease", length: 3_000 };

/** How many bindings a transaction deletes. */
const batchSize = 200;

/** Starts to delete what has ended; of several workers, one does it. Disposing waits for the transaction in progress. */
export function deleteEndedBindings(context: ServerContext, { database }: ServerStorage): AsyncDisposable {
  const { clock, log, draining, nodeId, group } = context;
  if (group?.isWriter === false) return { [Symbol.asyncDispose]: async () => {} };
  const newWrite = (): WriteContext => ({ actor: "", method: "term_ends", requestId: "", time: clock(), isBulk: true });
  let holdsLease = false;

  /** Deletes one batch. Returns whether there may be more. */
  async function deleteBatch(): Promise<boolean> {
    return await database.write(newWrite(), async (tx) => {
      holdsLease = (await takeLease(tx, lease, nodeId)) !== undefined;
      if (!holdsLease) return false;
      const requests = await closeDueRequests(tx, batchSize);
      const ended = await findEnded(tx, batchSize);
      for (const row of ended) await deleteEnded(tx, row);
      return Math.max(requests, ended.length) === batchSize;
    });
  }

  async function run(): Promise<void> {
    // Sets the clock of terms, which no request may have done for a while.
    await database.accessEpoch.current();
    const { session } = database;
    if ((await findEnded(session, 1)).length + (await findDueRequests(session, 1)).length === 0) return;
    while (!draining.aborted && (await isLeaseFree(database.session, lease, nodeId, clock())))
      if (!(await deleteBatch())) return;
  }

  const logFailure = (error: unknown) =>
    log.warn({ err: error }, "role bindings that have ended could not be deleted; they grant nothing");
  const repeated = every(limits.termEndsMs, run, { logFailure, signal: draining });
  return {
    async [Symbol.asyncDispose]() {
      await repeated[Symbol.asyncDispose]();
      if (holdsLease) await database.write(newWrite(), (tx) => releaseLease(tx, lease, nodeId)).catch(logFailure);
    },
  };
}
