// Keeps the words of names up to date, by which the search finds. One server at a time does so, under a lease.
import { setTimeout as sleep } from "node:timers/promises";
import type { WriteContext } from "../storage/engine/session.ts";
import { isLeaseFree, type Lease, releaseLease, takeLease } from "../storage/installation/lease.ts";
import { nextIndexWrite } from "../storage/names/word-index.ts";
import { every } from "./every.ts";
import { limits } from "./limits.ts";
import type { ServerContext } from "./server-context.ts";
import type { ServerStorage } from "./storage.ts";

/** Another server can take over from a dead one after this time. */
const lease: Lease = { name: "name_words_lease", length: 10_000 };

/** Starts to index names; of several workers, one does it. Disposing waits for the transaction in progress, and lets another server go on. */
export function indexNames(context: ServerContext, { database }: ServerStorage): AsyncDisposable {
  const { clock, log, draining, nodeId, group } = context;
  if (group?.isWriter === false) return { [Symbol.asyncDispose]: async () => {} };
  const newWrite = (): WriteContext => ({ actor: "", method: "names", requestId: "", time: clock(), isBulk: true });
  let leaseEnd = 0;

  async function leads(): Promise<boolean> {
    const left = leaseEnd - clock();
    if (left > lease.length / 2 && left <= lease.length) return true;
    leaseEnd = (await database.write(newWrite(), (tx) => takeLease(tx, lease, nodeId))) ?? 0;
    return leaseEnd > 0;
  }

  async function run(): Promise<void> {
    while (!draining.aborted && (await isLeaseFree(database.session, lease, nodeId, clock()))) {
      const write = await nextIndexWrite(database.session);
      if (!write || !(await leads())) return;
      await database.write(newWrite(), write);
      // Between two parts of a long work, others have their turn.
      await sleep(limits.nameIndexPauseMs);
    }
  }

  const logFailure = (error: unknown) =>
    log.warn({ err: error }, "names could not be indexed; the search may miss some");
  const repeated = every(limits.nameIndexMs, run, { logFailure, signal: draining });
  return {
    async [Symbol.asyncDispose]() {
      await repeated[Symbol.asyncDispose]();
      if (leaseEnd > 0) await database.write(newWrite(), (tx) => releaseLease(tx, lease, nodeId)).catch(logFailure);
    },
  };
}
