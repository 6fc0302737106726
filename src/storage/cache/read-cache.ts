// What is read again and again stays in memory until something changes where it was read.
import { LRUCache } from "lru-cache";
import { type MaybePromise, mapMaybe } from "../../base/maybe-promise.ts";
import type { ResourceRow } from "../collection/collection.ts";
import type { Session } from "../engine/session.ts";
import { type FollowedLog, type LogLimits, newFollowedLog } from "./change-tracker.ts";

/** Sizes of what is kept. */
export interface MemoryLimits extends LogLimits {
  /** Bytes of all that is kept with what is made of it, about. */
  readonly bytes: number;
  /** Bytes of one reading: what is larger is always read. */
  readonly readingBytes: number;
  /** Characters of a name: what has a longer one is always read. */
  readonly nameLength: number;
  /**
   * Readings that are looked back on. Something is kept when it was read among them and would be the same now, and it displaces
   * only what none of them asked for: to keep what is displaced unused costs more than to read it.
   */
  readonly readings: number;
  /** How long something is kept, in milliseconds: what is repaired by hand is in no change log. */
  readonly ageMs: number;
}

const defaultLimits: MemoryLimits = {
  bytes: 8 * 2 ** 20,
  readingBytes: 512 * 2 ** 10,
  nameLength: 1000,
  readings: 2000,
  ageMs: 60_000,
  changes: 500,
  places: 4000,
};

/** Something that can be read, and remembered. */
export interface Reading<T> {
  /** The resource that it is of. */
  readonly kind: string;
  /** Tells it from everything else that is read. */
  readonly name: string;
  /** Where something has to change for it to change: see FollowedLog. */
  places(): readonly string[];
  read(): MaybePromise<T>;
  /** How many bytes it takes; undefined for what is not worth it. */
  bytesOf(value: T): number | undefined;
  /** Freezes what is shown again. */
  freeze(value: T): void;
}

/** Reads, or remembers. */
export interface ReadMemory {
  /** How often something was remembered, and how often it had to be read. */
  readonly hits: number;
  readonly misses: number;
  /** What a reading finds in the snapshot of the session. */
  recall<T>(session: Session, reading: Reading<T>): MaybePromise<T>;
}

interface Kept {
  readonly value: unknown;
  /** The last change of the resource before it was read. */
  readonly sequence: number;
  /** When it was read, in milliseconds of `performance.now`. */
  readonly time: number;
  /** The number of the last reading that asked for it. */
  usedAt: number;
}

/** Makes one that remembers nothing yet. */
export function newReadMemory(limits: MemoryLimits = defaultLimits): ReadMemory {
  const kept = new LRUCache<string, Kept>({ maxSize: limits.bytes });
  /** The last change before each of the last readings. */
  const lastRead = new LRUCache<string, number>({ max: limits.readings });
  const logs = new Map<string, FollowedLog>();
  let hits = 0;
  let misses = 0;

  function logOf(kind: string): FollowedLog {
    const known = logs.get(kind);
    if (known) return known;
    const log = newFollowedLog(kind, limits);
    logs.set(kind, log);
    return log;
  }

  function read<T>(reading: Reading<T>): MaybePromise<T> {
    misses++;
    return reading.read();
  }

  function recallAt<T>(log: FollowedLog, sequence: number | undefined, reading: Reading<T>): MaybePromise<T> {
    if (sequence === undefined) return read(reading);
    const places = reading.places();
    const known = find(reading.name, log, places);
    if (known) return known.value as T;
    return mapMaybe(read(reading), (value) => {
      const before = lastRead.get(reading.name);
      lastRead.set(reading.name, sequence);
      const isRepeated = before !== undefined && log.isUnchangedSince(before, places);
      // Where another session has followed the log further meanwhile, it may have passed a change that this reading lacks.
      if (isRepeated && log.isAt(sequence)) keep(reading, value, sequence);
      return value;
    });
  }

  function find(name: string, log: FollowedLog, places: readonly string[]): Kept | undefined {
    const known = kept.get(name);
    if (!known) return undefined;
    if (log.isUnchangedSince(known.sequence, places) && performance.now() - known.time < limits.ageMs) {
      known.usedAt = ++hits + misses;
      return known;
    }
    kept.delete(name);
    return undefined;
  }

  function keep<T>(reading: Reading<T>, value: T, sequence: number): void {
    const usedAt = hits + misses;
    const isFull = kept.calculatedSize > limits.bytes - limits.readingBytes;
    const oldest = kept.rvalues().next().value;
    if (isFull && oldest && usedAt - oldest.usedAt < limits.readings) return;
    const bytes = reading.bytesOf(value);
    // Before it is frozen: what is made of it would be made to be kept, and gone with it.
    if (bytes === undefined || bytes > limits.readingBytes) return;
    reading.freeze(value);
    kept.set(reading.name, { value, sequence, time: performance.now(), usedAt }, { size: bytes });
  }

  return {
    get hits() {
      return hits;
    },
    get misses() {
      return misses;
    },
    recall(session, reading) {
      if (reading.name.length > limits.nameLength) return read(reading);
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
