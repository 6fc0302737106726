// Caches rows and list pages, and invalidates them from the change log.
import { LRUCache } from "lru-cache";
import { type MaybePromise, mapMaybe } from "../../base/maybe-promise.ts";
import type { ResourceRow } from "../collection/collection.ts";
import type { Session } from "../engine/session.ts";
import { type ChangeTracker, newChangeTracker, type TrackerLimits } from "./change-tracker.ts";

/** Limits of the cache. */
export interface ReadCacheLimits extends TrackerLimits {
  /** Approximate size of all entries with their responses, in bytes. */
  readonly maxBytes: number;
  /** The size of one entry in bytes; larger values are not cached. */
  readonly maxEntryBytes: number;
  /** The length of a key in characters; reads with longer keys are not cached. */
  readonly maxKeyLength: number;
  /**
   * Admission window, in reads. A value is cached on its second read within the window, if nothing changed in between.
   * It evicts only entries that no read in the window used: evicting an entry before it is used again costs more than
   * reading it from the database.
   */
  readonly recentReads: number;
  /** The lifetime of an entry in milliseconds: manual repairs are not in the change log. */
  readonly maxAgeMs: number;
}

const defaultLimits: ReadCacheLimits = {
  maxBytes: 8 * 2 ** 20,
  maxEntryBytes: 512 * 2 ** 10,
  maxKeyLength: 1000,
  recentReads: 2000,
  maxAgeMs: 60_000,
  maxChanges: 500,
  maxKeys: 4000,
};

/** A read whose result can be cached. */
export interface CacheableRead<T> {
  /** The resource that is read. */
  readonly kind: string;
  /** Identifies the read among all others. */
  readonly key: string;
  /** The keys that the result depends on; see ChangeTracker. */
  dependencies(): readonly string[];
  read(): MaybePromise<T>;
  /** Returns the size in bytes, or undefined for a value that is not worth caching. */
  bytesOf(value: T): number | undefined;
  /** Freezes a value that is returned again. */
  freeze(value: T): void;
}

/** Returns cached values, or reads them. */
export interface ReadCache {
  /** How many reads were hits and misses. */
  readonly hits: number;
  readonly misses: number;
  /** Returns the result of a read in the snapshot of the session. */
  get<T>(session: Session, reading: CacheableRead<T>): MaybePromise<T>;
}

interface CacheEntry {
  readonly value: unknown;
  /** The last change of the resource before the read. */
  readonly sequence: number;
  /** When it was read, in milliseconds of `performance.now`. */
  readonly time: number;
  /** The number of the last read that used it. */
  usedAt: number;
}

/** Creates an empty cache. */
export function newReadCache(limits: ReadCacheLimits = defaultLimits): ReadCache {
  const kept = new LRUCache<string, CacheEntry>({ maxSize: limits.maxBytes });
  /** The last change before each recent read, by key. */
  const lastRead = new LRUCache<string, number>({ max: limits.recentReads });
  const logs = new Map<string, ChangeTracker>();
  let hits = 0;
  let misses = 0;

  function logOf(kind: string): ChangeTracker {
    const known = logs.get(kind);
    if (known) return known;
    const log = newChangeTracker(kind, limits);
    logs.set(kind, log);
    return log;
  }

  function read<T>(reading: CacheableRead<T>): MaybePromise<T> {
    misses++;
    return reading.read();
  }

  function recallAt<T>(log: ChangeTracker, sequence: number | undefined, reading: CacheableRead<T>): MaybePromise<T> {
    if (sequence === undefined) return read(reading);
    const places = reading.dependencies();
    const known = find(reading.key, log, places);
    if (known) return known.value as T;
    return mapMaybe(read(reading), (value) => {
      const before = lastRead.get(reading.key);
      lastRead.set(reading.key, sequence);
      const isRepeated = before !== undefined && log.isUnchangedSince(before, places);
      // Another session may have read the log further meanwhile, beyond a change that this read lacks.
      if (isRepeated && log.isAt(sequence)) keep(reading, value, sequence);
      return value;
    });
  }

  function find(name: string, log: ChangeTracker, places: readonly string[]): CacheEntry | undefined {
    const known = kept.get(name);
    if (!known) return undefined;
    if (log.isUnchangedSince(known.sequence, places) && performance.now() - known.time < limits.maxAgeMs) {
      known.usedAt = ++hits + misses;
      return known;
    }
    kept.delete(name);
    return undefined;
  }

  function keep<T>(reading: CacheableRead<T>, value: T, sequence: number): void {
    const usedAt = hits + misses;
    const isFull = kept.calculatedSize > limits.maxBytes - limits.maxEntryBytes;
    const oldest = kept.rvalues().next().value;
    if (isFull && oldest && usedAt - oldest.usedAt < limits.recentReads) return;
    const bytes = reading.bytesOf(value);
    // Return before freezing: what is built from frozen rows is kept with them.
    if (bytes === undefined || bytes > limits.maxEntryBytes) return;
    reading.freeze(value);
    kept.set(reading.key, { value, sequence, time: performance.now(), usedAt }, { size: bytes });
  }

  return {
    get hits() {
      return hits;
    },
    get misses() {
      return misses;
    },
    get(session, reading) {
      if (reading.key.length > limits.maxKeyLength) return read(reading);
      const log = logOf(reading.kind);
      return mapMaybe(log.follow(session), (sequence) => recallAt(log, sequence, reading));
    },
  };
}

/** Returns the approximate memory of rows with their messages, in protobuf and JSON. */
export function bytesOf(rows: readonly ResourceRow[]): number {
  let bytes = 1000;
  for (const row of rows) {
    bytes += 500;
    for (const value of Object.values(row)) {
      if (typeof value === "string") bytes += 4 * value.length;
      else if (typeof value === "object" && value !== null) bytes += 8 * JSON.stringify(value).length;
    }
  }
  return bytes;
}
