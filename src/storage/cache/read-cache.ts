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
  recentMs: 50,
};

/** A read whose result can be cached. */
export interface CacheableRead<T> {
  /** The resource that is read. */
  readonly kind: string;
  /** Identifies the read among all others. */
  readonly key: string;
  /** Returns the keys that the result depends on; see ChangeTracker. */
  dependencies(): readonly string[];
  /** Whether concurrent reads share one statement. Reading then takes less than validating after a commit. */
  readonly isShared?: boolean;
  read(): MaybePromise<T>;
  /** Returns the size in bytes, or undefined for a value that is not worth caching. */
  bytesOf(value: T): number | undefined;
  /** Freezes a value that is returned again. */
  freeze(value: T): void;
}

/** Returns cached values, or reads them. */
export interface ReadCache {
  /** The numbers of reads that were hits and misses. */
  readonly hits: number;
  readonly misses: number;
  /** The number of results, and their approximate size with their responses. */
  readonly entries: number;
  readonly bytes: number;
  /** Returns the result of a read in the snapshot of the session. */
  get<T>(session: Session, read: CacheableRead<T>): MaybePromise<T>;
  /** Returns the result of a read if it is cached, as of the data version of the session. */
  find<T>(session: Session, read: CacheableRead<T>): MaybePromise<T | undefined>;
  /** Removes all entries. */
  clear(): void;
}

interface CacheEntry {
  readonly value: unknown;
  /** The last change of the resource before the read. */
  readonly sequence: number;
  /** The time of the read, in milliseconds of `performance.now`. */
  readonly time: number;
  /** The number of the last read that used it. */
  usedAt: number;
}

/** Creates an empty cache. */
export function newReadCache(limits: ReadCacheLimits = defaultLimits): ReadCache {
  return new TrackedReadCache(limits);
}

class TrackedReadCache implements ReadCache {
  readonly #limits: ReadCacheLimits;
  readonly #entries: LRUCache<string, CacheEntry>;
  /** The last change before each recent read, by key. */
  readonly #recent: LRUCache<string, number>;
  readonly #trackers = new Map<string, ChangeTracker>();
  #hits = 0;
  #misses = 0;

  constructor(limits: ReadCacheLimits) {
    this.#limits = limits;
    this.#entries = new LRUCache({ maxSize: limits.maxBytes });
    this.#recent = new LRUCache({ max: limits.recentReads });
  }

  get hits(): number {
    return this.#hits;
  }

  get misses(): number {
    return this.#misses;
  }

  get entries(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  get<T>(session: Session, read: CacheableRead<T>): MaybePromise<T> {
    if (read.key.length > this.#limits.maxKeyLength) return this.#read(read);
    const tracker = this.#trackerOf(read.kind);
    // Without an entry there is nothing to validate. What is read now is at least as new as the last known change.
    if (session.seesLatest && tracker.sequence !== undefined && !this.#entries.has(read.key))
      return this.#readAt(tracker, tracker.sequence, read);
    if (read.isShared && tracker.hasMoved()) return this.#read(read);
    return mapMaybe(tracker.follow(session), (sequence) => this.#getAt(tracker, sequence, read));
  }

  find<T>(session: Session, read: CacheableRead<T>): MaybePromise<T | undefined> {
    if (!this.#entries.has(read.key)) return undefined;
    const tracker = this.#trackerOf(read.kind);
    return mapMaybe(
      tracker.follow(session),
      (sequence) =>
        (sequence === undefined ? undefined : this.#find(read.key, tracker, read.dependencies())?.value) as
          | T
          | undefined,
    );
  }

  clear(): void {
    this.#entries.clear();
    this.#recent.clear();
    this.#trackers.clear();
  }

  #trackerOf(kind: string): ChangeTracker {
    const known = this.#trackers.get(kind);
    if (known) return known;
    const tracker = newChangeTracker(kind, this.#limits);
    this.#trackers.set(kind, tracker);
    return tracker;
  }

  #read<T>(read: CacheableRead<T>): MaybePromise<T> {
    this.#misses++;
    return read.read();
  }

  #getAt<T>(tracker: ChangeTracker, sequence: number | undefined, read: CacheableRead<T>): MaybePromise<T> {
    if (sequence === undefined) return this.#read(read);
    const entry = this.#find(read.key, tracker, read.dependencies());
    return entry ? (entry.value as T) : this.#readAt(tracker, sequence, read);
  }

  /** Reads a value that is at least as new as a change, and caches it if it is read again. */
  #readAt<T>(tracker: ChangeTracker, sequence: number, read: CacheableRead<T>): MaybePromise<T> {
    return mapMaybe(this.#read(read), (value) => {
      // The cache may have been cleared meanwhile.
      if (this.#trackers.get(read.kind) !== tracker) return value;
      const keys = read.dependencies();
      const before = this.#recent.get(read.key);
      this.#recent.set(read.key, sequence);
      const isRepeated = before !== undefined && tracker.isUnchangedSince(before, keys);
      // Another session may have read the log further meanwhile, beyond a change that this read lacks.
      if (isRepeated && tracker.isAt(sequence)) this.#add(read, value, sequence);
      return value;
    });
  }

  #find(key: string, tracker: ChangeTracker, keys: readonly string[]): CacheEntry | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    const isFresh = performance.now() - entry.time < this.#limits.maxAgeMs;
    if (isFresh && tracker.isUnchangedSince(entry.sequence, keys)) {
      entry.usedAt = ++this.#hits + this.#misses;
      return entry;
    }
    this.#entries.delete(key);
    return undefined;
  }

  #add<T>(read: CacheableRead<T>, value: T, sequence: number): void {
    const { maxBytes, maxEntryBytes, recentReads } = this.#limits;
    const usedAt = this.#hits + this.#misses;
    const isFull = this.#entries.calculatedSize > maxBytes - maxEntryBytes;
    const oldest = this.#entries.rvalues().next().value;
    if (isFull && oldest && usedAt - oldest.usedAt < recentReads) return;
    const bytes = read.bytesOf(value);
    // Return before freezing: what is built from frozen rows is kept with them.
    if (bytes === undefined || bytes > maxEntryBytes) return;
    read.freeze(value);
    this.#entries.set(read.key, { value, sequence, time: performance.now(), usedAt }, { size: bytes });
  }
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
