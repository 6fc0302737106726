// Stores which access was used. No request waits for it.
import type { AccessUsage } from "../authz/usage.ts";
import type { Database } from "../storage/database.ts";
import type { WriteContext } from "../storage/engine/session.ts";
import { endRecording, noteRecording, recordedSince, storeUses } from "../storage/iam/access-usage.ts";
import { every } from "./every.ts";
import { limits } from "./limits.ts";
import type { ServerContext } from "./server-context.ts";

/** How many uses one transaction stores. */
const batchSize = 200;

/**
 * Stores the uses of this process: those of capabilities that were not used before within a second, others every few minutes. Disposing
 * it stores the rest. Without a memory of uses, stores that none are recorded.
 */
export async function storeUsage(
  { clock, log }: Pick<ServerContext, "clock" | "log">,
  database: Pick<Database, "write" | "session">,
  usage: AccessUsage | undefined,
): Promise<AsyncDisposable> {
  const newWrite = () => ({ actor: "", method: "access_usage", requestId: "", time: clock(), isBulk: true });
  const logFailure = (error: unknown) => log.warn({ err: error }, "storing the uses of access failed");
  const store = usage ? storeRepeatedly(database, usage, newWrite) : stopOnce(database, newWrite);
  // From the first request on, recording has begun.
  await store(false).catch(logFailure);
  const repeated = every(limits.usageFreshMs, () => store(false), { logFailure });
  return {
    async [Symbol.asyncDispose]() {
      await repeated[Symbol.asyncDispose]();
      await store(true).catch(logFailure);
    },
  };
}

/** Returns the function that stores what is due, or everything. */
function storeRepeatedly(database: Pick<Database, "write">, usage: AccessUsage, newWrite: () => WriteContext) {
  let storedAllAt = Number.NEGATIVE_INFINITY;
  return async (isLast: boolean): Promise<void> => {
    const { time } = newWrite();
    usage.advance(time);
    const isAll = isLast || Math.abs(time - storedAllAt) >= limits.usageRepeatedMs;
    await storeTaken(database, usage, isAll, newWrite);
    if (!isAll) return;
    // Last: what it says must be stored.
    await database.write({ ...newWrite(), time }, noteRecording);
    storedAllAt = time;
  };
}

async function storeTaken(
  database: Pick<Database, "write">,
  usage: AccessUsage,
  isAll: boolean,
  newWrite: () => WriteContext,
): Promise<void> {
  const taken = usage.take(isAll);
  for (let i = 0; i < taken.length; i += batchSize) {
    try {
      await database.write(newWrite(), (tx) => storeUses(tx, taken.slice(i, i + batchSize)));
    } catch (error) {
      usage.putBack(taken.slice(i));
      throw error;
    }
  }
}

/** Returns the function that stores once that nothing is recorded. */
function stopOnce({ session, write }: Pick<Database, "write" | "session">, newWrite: () => WriteContext) {
  let isStopped = false;
  return async (): Promise<void> => {
    if (isStopped) return;
    if ((await recordedSince(session)) !== undefined) await write(newWrite(), endRecording);
    isStopped = true;
  };
}
