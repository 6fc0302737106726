// Writes access entries to the audit log, asynchronously and within a second. No call waits for them.
import type { Logger } from "pino";
import type { Clock } from "../base/clock.ts";
import { type AccessEntry, appendAccessEntries } from "../storage/change-log/access-entries.ts";
import type { Database } from "../storage/database.ts";
import { type AccessEvent, type AccessLimits, AccessTally } from "./access-tally.ts";

/** Records access events as entries of the audit log. */
export interface AccessLog extends AsyncDisposable {
  /** Records an event. Returns immediately and never throws. */
  record(event: AccessEvent): void;
  /** Waits at the end for work that records an event, and that never rejects. */
  track(work: Promise<void>): void;
}

/** The dependencies and limits of the access log. */
export interface AccessLogOptions {
  readonly database: Pick<Database, "write">;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
  /** Called with each event before aggregation and limits. */
  readonly count: (event: AccessEvent, time: number) => void;
  readonly limits: AccessLimits & {
    /** The maximum number of unwritten entries while the database is unavailable. Beyond it the oldest are dropped. */
    readonly waitingAccessEntries: number;
    /** The interval between writes. */
    readonly accessFlushMs: number;
  };
}

/** How many entries one transaction writes. */
const batchSize = 200;

/** Opens the access log. Disposing it writes the remaining entries. */
export function openAccessLog({ database, clock, log, count, limits }: AccessLogOptions): AccessLog {
  const waiting: AccessEntry[] = [];
  const dropOldest = () => void waiting.splice(0, Math.max(0, waiting.length - limits.waitingAccessEntries));
  const tally = new AccessTally(limits, (entry) => {
    waiting.push(entry);
    dropOldest();
  });
  const tracked = new Set<Promise<void>>();
  let hasFailed = false;
  let flushing: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const entries = waiting.splice(0, batchSize);
      const context = { actor: "", method: "access", requestId: "", time: clock() };
      try {
        await database.write(context, async (tx) => appendAccessEntries(tx, entries));
        hasFailed = false;
      } catch (error) {
        waiting.unshift(...entries);
        dropOldest();
        // Logged once per outage.
        if (!hasFailed) log.warn({ err: error }, "writing access entries to the audit log failed");
        hasFailed = true;
        return;
      }
    }
  }

  /** Flushes one after the other to keep the order of entries. */
  function flushNext(): Promise<void> {
    flushing = flushing.then(flush);
    return flushing;
  }

  const timer = setInterval(() => {
    tally.advance(clock());
    void flushNext();
  }, limits.accessFlushMs).unref();
  return {
    record(event) {
      const time = clock();
      count(event, time);
      tally.record(event, time);
    },
    track(work) {
      tracked.add(work);
      void work.then(() => tracked.delete(work));
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await Promise.all(tracked);
      tally.advance(Number.POSITIVE_INFINITY);
      await flushNext();
    },
  };
}
