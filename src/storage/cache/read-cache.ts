// What is read again and again stays in memory until something changes where it was read.
import { LRUCache } from "lru-cache";
import { type MaybePromise, mapMaybe } from "../../base/maybe-promise.ts";
import type { ResourceRow } from "../collection/collection.ts";
import type { Session } from "../engine/session.ts";
import { type ChangeTracker, newChangeTracker, type TrackerLimits } from "./change-tracker.ts";

/** Sizes of what is kept. */
export interface ReadCacheLimits extends TrackerLimits {
  /** Bytes of all that is kept with what is made of it, about. */
  readonly maxBytes: number;
  /** Bytes of one reading: what is larger is always read. */
  readonly maxEntryBytes: number;
  /** Characters of a name: what has a longer one is always read. */
  readonly maxKeyLength: number;
  /**
   * Readings that are looked back on. Something is kept when it was read among them and would be the same now, and it displaces
   * only what none of them asked for: to keep what is displaced unused costs more than to read it.
   */
  readonly recentReads: number;
  /** How long something is kept, in milliseconds: what is repaired by hand is in no change log. */
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

/** Something that can be read, and remembered. */
export interface CacheableRead<T> {
  /** The resource that it is of. */
  readonly kind: string;
  /** Tells it from everything else that is read. */
  readonly key: string;
  /** Where something has to change for it to change: see FollowedLog. */
  dependencies(): readonly string[];
  read(): MaybePromise<T>;
  /** How many bytes it takes; undefined for what is not worth it. */
  bytesOf(value: T): number | undefined;
  /** Freezes what is shown again. */
  freeze(value: T): void;
}

/** Reads, or remembers. */
export interface ReadCache {
  /** How often something was remembered, and how often it had to be read. */
  readonly hits: number;
  readonly misses: number;
  /** What a reading finds in the snapshot of the session. */
  get<T>(session: Session, reading: CacheableRead<T>): MaybePromise<T>;
}

interface CacheEntry {
  readonly value: unknown;
  /** The last change of the resource before it was read. */
  readonly sequence: number;
  /** When it was read, in milliseconds of `performance.now`. */
  readonly time: number;
  /** The number of the last reading that asked for it. */
  usedAt: number;
}

/** Makes one that remembers nothing yet. */
export function newReadCache(limits: ReadCacheLimits = defaultLimits): ReadCache {
  const kept = new LRUCache<string, CacheEntry>({ maxSize: limits.maxBytes });
  /** The last change before each of the last readings. */
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
      // Where another session has followed the log further meanwhile, it may have passed a change that this reading lacks.
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
    // Before it is frozen: what is made of it would be made to be kept, and gone with it.
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

/** What rows take in memory, about: themselves, the messages made of them, and those in protobuf and in JSON. */
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
