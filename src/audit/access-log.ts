// Writes entries about access to the audit log, asynchronously and within a second: no call waits for them.
import type { Logger } from "pino";
import type { Clock } from "../base/clock.ts";
import { type AccessEntry, appendAccessEntries } from "../storage/change-log/access-entries.ts";
import type { Database } from "../storage/database.ts";
import { type AccessEvent, type AccessLimits, AccessTally } from "./access-tally.ts";

/** Takes events, and writes entries soon. */
export interface AccessLog extends AsyncDisposable {
  /** Never throws, and waits for nothing. */
  record(event: AccessEvent): void;
}

/** What the log rests on. */
export interface AccessLogOptions {
  readonly database: Pick<Database, "write">;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
  readonly limits: AccessLimits & {
    /** Entries that wait while the database does not answer; beyond that the oldest are dropped. */
    readonly waitingAccessEntries: number;
    /** How often entries are written. */
    readonly accessFlushMs: number;
  };
}

/** Entries that one transaction writes. */
const portion = 200;

/** Opens the log. Disposing of it writes what waits. */
export function openAccessLog({ database, clock, log, limits }: AccessLogOptions): AccessLog {
  const waiting: AccessEntry[] = [];
  const keep = () => void waiting.splice(0, Math.max(0, waiting.length - limits.waitingAccessEntries));
  const tally = new AccessTally(limits, (entry) => {
    waiting.push(entry);
    keep();
  });
  let hasFailed = false;
  let flushing: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const entries = waiting.splice(0, portion);
      const context = { actor: "", method: "access", requestId: "", time: clock() };
      try {
        await database.write(context, async (tx) => appendAccessEntries(tx, entries));
        hasFailed = false;
      } catch (error) {
        waiting.unshift(...entries);
        keep();
        // Once, and not with every attempt until it is over.
        if (!hasFailed) log.warn({ err: error }, "writing access entries to the audit log failed");
        hasFailed = true;
        return;
      }
    }
  }

  /** One flush after the other, so that entries keep their order. */
  function flushNext(): Promise<void> {
    flushing = flushing.then(flush);
    return flushing;
  }

  const timer = setInterval(() => {
    tally.advance(clock());
    void flushNext();
  }, limits.accessFlushMs).unref();
  return {
    record: (event) => tally.record(event, clock()),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      tally.advance(Number.POSITIVE_INFINITY);
      await flushNext();
    },
  };
}
