// Tracks the last change of each row and range. Caches use it to decide whether an entry is still valid.

import { type MaybePromise, mapMaybe } from "../../base/maybe-promise.ts";
import { ancestorsOf, platformRoot } from "../../model/uid.ts";
import { lastChangeOfKind, readChangedKeys } from "../change-log/change-log.ts";
import type { Session } from "../engine/session.ts";
import { childrenKey } from "../schema/entry-keys.ts";

/** Limits of a tracker. */
export interface TrackerLimits {
  /** How many changes are read at once; after more, every key counts as changed. */
  readonly maxChanges: number;
  /** How many keys with their last change are kept. */
  readonly maxKeys: number;
  /** How long a commit counts as recent, in milliseconds. Under constant writes, one read in this time follows the log. */
  readonly recentMs: number;
}

/** Tracks the changes of one resource by key. A key is the uid of a row, or the entry key of a range (`entryKeyOf`). */
export interface ChangeTracker {
  /** The last change that was read; undefined before the first. */
  readonly sequence: number | undefined;
  /**
   * Reads the change log up to the snapshot of the session, and returns its last change. Returns undefined if the
   * tracker is ahead of the snapshot.
   */
  follow(session: Session): MaybePromise<number | undefined>;
  /** Returns whether something was committed shortly before: `follow` then probably has to read the change log. */
  hasMoved(): boolean;
  /** Returns whether the tracker is exactly at this change. */
  isAt(sequence: number): boolean;
  /** Returns whether no key has changed after a change, as far as the log was read. */
  isUnchangedSince(sequence: number, keys: readonly string[]): boolean;
}

/** A changed row, and when it changed. */
interface ChangedKeys {
  readonly sequence: number;
  readonly uid: string;
  readonly groupUid: string;
}

/** Creates a tracker. It starts at the snapshot of the first session. */
export function newChangeTracker(kind: string, limits: TrackerLimits): ChangeTracker {
  return new LogTracker(kind, limits);
}

class LogTracker implements ChangeTracker {
  readonly #kind: string;
  readonly #limits: TrackerLimits;
  #sequence: number | undefined;
  /** The data version in which `#sequence` was the last change. */
  #dataVersion: number | undefined;
  /** The reading of the log for a data version, which all sessions share that have this version. */
  #following: { readonly dataVersion: number; readonly result: Promise<number | undefined> } | undefined;
  /** The time at which a new data version was seen, in milliseconds of `performance.now`. */
  #movedAt = Number.NEGATIVE_INFINITY;
  /** Per-key tracking starts after this sequence number. A cache entry read before it counts as invalid. */
  #changedBefore = 0;
  /** The changed keys with their last change, in order of that change. */
  readonly #changed = new Map<string, number>();

  constructor(kind: string, limits: TrackerLimits) {
    this.#kind = kind;
    this.#limits = limits;
  }

  get sequence(): number | undefined {
    return this.#sequence;
  }

  follow(session: Session): MaybePromise<number | undefined> {
    return mapMaybe(session.dataVersion?.(), (current) => {
      if (current === undefined) return this.#followTo(session, undefined);
      return current === this.#dataVersion ? this.#sequence : this.#followOnce(session, current);
    });
  }

  hasMoved(): boolean {
    return performance.now() - this.#movedAt < this.#limits.recentMs;
  }

  isAt(sequence: number): boolean {
    return this.#sequence === sequence;
  }

  isUnchangedSince(sequence: number, keys: readonly string[]): boolean {
    return this.#changedBefore <= sequence && keys.every((key) => (this.#changed.get(key) ?? 0) <= sequence);
  }

  /** Follows to a data version. What is read is at least as new as the version, which is known before. */
  #followOnce(session: Session, dataVersion: number): Promise<number | undefined> {
    if (this.#following?.dataVersion === dataVersion) return this.#following.result;
    if (this.#dataVersion !== undefined) this.#movedAt = performance.now();
    const result = this.#followTo(session, dataVersion).finally(() => {
      if (this.#following === following) this.#following = undefined;
    });
    const following = { dataVersion, result };
    this.#following = following;
    return result;
  }

  async #followTo(session: Session, dataVersion: number | undefined): Promise<number | undefined> {
    const { maxChanges } = this.#limits;
    const known = this.#sequence;
    const changes = known === undefined ? undefined : await readChangedKeys(session, this.#kind, known, maxChanges + 1);
    const isComplete = known !== undefined && changes !== undefined && changes.length <= maxChanges;
    const latest = isComplete ? (changes.at(-1)?.sequence ?? known) : await lastChangeOfKind(session, this.#kind);
    this.#sequence ??= latest;
    // Another session may have read further while this one waited for the database. Its records stay: recorded again
    // from here, a key would seem to have changed earlier than it did.
    if (this.#sequence < latest) {
      this.#record(changes, this.#sequence, latest);
      this.#sequence = latest;
    }
    if (this.#sequence !== latest) return undefined;
    this.#dataVersion = dataVersion;
    return latest;
  }

  /**
   * Records the changes after one change, up to a later one. `changes` is undefined if the log no longer has them. It may
   * have still later ones, if it was read outside of a snapshot: the next call reads them again.
   */
  #record(changes: readonly ChangedKeys[] | undefined, since: number, latest: number): void {
    if (!changes || changes.length > this.#limits.maxChanges) {
      this.#changedBefore = latest;
      this.#changed.clear();
      return;
    }
    for (const change of changes) {
      if (change.sequence <= since || change.sequence > latest) continue;
      for (const key of keysOfChange(change)) this.#recordKey(key, change.sequence);
    }
  }

  #recordKey(key: string, sequence: number): void {
    this.#changed.delete(key);
    this.#changed.set(key, sequence);
    if (this.#changed.size <= this.#limits.maxKeys) return;
    const [oldest, changedAt] = this.#changed.entries().next().value!;
    this.#changed.delete(oldest);
    this.#changedBefore = Math.max(this.#changedBefore, changedAt);
  }
}

/** Returns all keys of a row: its uid, and the ranges that contain it or may contain it. */
function keysOfChange({ uid, groupUid }: ChangedKeys): string[] {
  const within = [...ancestorsOf(uid), uid];
  const keys = [...within, ...within.map(childrenKey), childrenKey(groupUid)];
  // The group of a root group is the root group itself.
  const hasNone = within.length === 1 || groupUid === platformRoot;
  return hasNone ? [...keys, childrenKey(null)] : keys;
}
