// Writes access entries to the audit log, and the shapes of presented tokens, asynchronously and within a second. No call waits for them.
import type { Logger } from "pino";
import type { Clock } from "../base/clock.ts";
import { type AccessEntry, appendAccessEntries } from "../storage/change-log/access-entries.ts";
import type { Database } from "../storage/database.ts";
import { type AccessEvent, type AccessLimits, AccessTally } from "./access-tally.ts";
import { type PresentedToken, TokenTally, type TokenTallyLimits } from "./token-tally.ts";

/** Records access events as entries of the audit log. */
export interface AccessLog extends AsyncDisposable {
  /** Records an event. Returns immediately and never throws. */
  record(event: AccessEvent): void;
  /** Counts the shape of a token. Returns immediately and never throws. */
  recordToken(token: PresentedToken): void;
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
  readonly limits: AccessLimits &
    TokenTallyLimits & {
      /** The maximum number of unwritten entries while the database is unavailable. Beyond it the oldest are dropped. */
      readonly waitingAccessEntries: number;
      /** The interval between writes. */
      readonly accessFlushMs: number;
    };
}

/** How many entries one transaction writes. */
const batchSize = 200;

/** Opens the access log. Disposing it writes the remaining entries. */
export function openAccessLog(options: AccessLogOptions): AccessLog {
  const { clock, count, limits } = options;
  const entries = entryWriter(options);
  const tally = new AccessTally(limits, entries.add);
  const tokens = new TokenTally(limits);
  const flushTokens = tokenWriter(options, tokens);
  const tracked = new Set<Promise<void>>();
  let flushing: Promise<void> = Promise.resolve();

  /** Flushes one after the other to keep the order of entries. */
  function flushNext(isLast: boolean): Promise<void> {
    flushing = flushing.then(entries.flush).then(() => flushTokens(isLast));
    return flushing;
  }

  const timer = setInterval(() => {
    tally.advance(clock());
    void flushNext(false);
  }, limits.accessFlushMs).unref();
  return {
    record(event) {
      const time = clock();
      count(event, time);
      tally.record(event, time);
    },
    recordToken(token) {
      tokens.record(token, clock());
    },
    track(work) {
      tracked.add(work);
      void work.then(() => tracked.delete(work));
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await Promise.all(tracked);
      tally.advance(Number.POSITIVE_INFINITY);
      await flushNext(true);
    },
  };
}

/** Returns functions that add an entry to the waiting ones, and that write those. The latter never rejects. */
function entryWriter({ database, clock, log, limits }: AccessLogOptions) {
  const waiting: AccessEntry[] = [];
  const dropOldest = () => void waiting.splice(0, Math.max(0, waiting.length - limits.waitingAccessEntries));
  const outage = newOutage(log, "writing access entries to the audit log failed");
  return {
    add(entry: AccessEntry): void {
      waiting.push(entry);
      dropOldest();
    },
    async flush(): Promise<void> {
      while (waiting.length > 0) {
        const entries = waiting.splice(0, batchSize);
        try {
          await database.write(writeContext("access", clock), async (tx) => appendAccessEntries(tx, entries));
          outage.end();
        } catch (error) {
          waiting.unshift(...entries);
          dropOldest();
          outage.begin(error);
          return;
        }
      }
    },
  };
}

/** Returns a function that stores a batch of shapes, or all if it is the last time. It never rejects. */
function tokenWriter({ database, clock, log }: AccessLogOptions, tokens: TokenTally) {
  const outage = newOutage(log, "storing the shapes of presented tokens failed");
  return async (isLast: boolean): Promise<void> => {
    try {
      do {
        const context = writeContext("seen_tokens", clock);
        if (!(await tokens.store(database, context, isLast ? Number.POSITIVE_INFINITY : context.time))) break;
      } while (isLast);
      outage.end();
    } catch (error) {
      outage.begin(error);
    }
  };
}

/** Logs failures once per outage. */
function newOutage(log: AccessLogOptions["log"], message: string) {
  let hasFailed = false;
  return {
    begin(error: unknown): void {
      if (!hasFailed) log.warn({ err: error }, message);
      hasFailed = true;
    },
    end(): void {
      hasFailed = false;
    },
  };
}

function writeContext(method: string, clock: Clock) {
  return { actor: "", method, requestId: "", time: clock() };
}
