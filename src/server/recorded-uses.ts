// Stores uses that a process remembers, and since when all are stored. No request waits for it.
import type { Database } from "../storage/database.ts";
import type { Recording } from "../storage/engine/recording.ts";
import type { WriteContext } from "../storage/engine/session.ts";
import { everyAndAtEnd } from "./every.ts";
import { limits } from "./limits.ts";
import type { ServerContext } from "./server-context.ts";

/** Uses of one kind, and how they are stored. */
export interface UseStore {
  /** The method of the writes. */
  readonly method: string;
  readonly recording: Recording;
  readonly intervalMs: number;
  /** Stores the uses that are due, or all. Undefined if none are recorded. */
  readonly store: ((isAll: boolean, newWrite: () => WriteContext) => Promise<void>) | undefined;
  /** The message for the log if that fails. */
  readonly failure: string;
}

/**
 * Stores uses repeatedly, and all of them every few minutes and when it is disposed. After that, it notes until when they are complete. If
 * none are recorded, it stores that.
 */
export async function storeRecordedUses(
  { clock, log }: Pick<ServerContext, "clock" | "log">,
  database: Pick<Database, "write" | "session">,
  uses: UseStore,
): Promise<AsyncDisposable> {
  const newWrite = () => ({ actor: "", method: uses.method, requestId: "", time: clock(), isBulk: true });
  const logFailure = (error: unknown) => log.warn({ err: error }, uses.failure);
  const run = uses.store
    ? storeAndNote(database, uses.recording, uses.store, newWrite)
    : stopOnce(database, uses, newWrite);
  // From the first request on, recording has begun.
  await run(false).catch(logFailure);
  return everyAndAtEnd(uses.intervalMs, run, logFailure);
}

function storeAndNote(
  database: Pick<Database, "write">,
  recording: Recording,
  store: NonNullable<UseStore["store"]>,
  newWrite: () => WriteContext,
) {
  let notedAt = Number.NEGATIVE_INFINITY;
  return async (isLast: boolean): Promise<void> => {
    const { time } = newWrite();
    const isAll = isLast || Math.abs(time - notedAt) >= limits.usageRepeatedMs;
    await store(isAll, newWrite);
    if (!isAll) return;
    // Last: all uses up to then must be stored.
    await database.write({ ...newWrite(), time }, recording.note);
    notedAt = time;
  };
}

/** Returns the function that stores once that nothing is recorded. */
function stopOnce(
  { session, write }: Pick<Database, "write" | "session">,
  { recording }: Pick<UseStore, "recording">,
  newWrite: () => WriteContext,
) {
  let isStopped = false;
  return async (): Promise<void> => {
    if (isStopped) return;
    if ((await recording.since(session)) !== undefined) await write(newWrite(), recording.end);
    isStopped = true;
  };
}
