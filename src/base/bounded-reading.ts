// Values of metrics that are expensive to read: however often metrics are requested, they are read seldom, and a database that does
// not respond delays no request.
import { setTimeout } from "node:timers/promises";
import { newReader, type ReaderLimits } from "./shared-reader.ts";

/** Returns a function that reads at most once in `maxAgeMs`, waits `patienceMs`, and returns undefined if the read fails. */
export function boundedReading<T>(read: () => Promise<T>, limits: ReaderLimits): () => Promise<T | undefined> {
  // A failure counts as long as a value: it must not be asked for again with each request.
  const reader = newReader<T | undefined>(() => read().catch(() => undefined), limits);
  return async () => {
    const late = new AbortController();
    try {
      const patience = setTimeout(limits.patienceMs, undefined, { ref: false, signal: late.signal });
      return await Promise.race([reader.current(), patience.catch(() => undefined)]);
    } finally {
      late.abort();
    }
  };
}
