// Tracks the last change of each row and range, so that caches can tell whether an entry is still valid.

import type { MaybePromise } from "../../base/maybe-promise.ts";
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
}

/** Tracks the changes of one resource by key. A key is the uid of a row, or the entry key of a range (`entryKeyOf`). */
export interface ChangeTracker {
  /**
   * Reads the change log up to the snapshot of the session, and returns its last change. Returns undefined if the
   * tracker is ahead of the snapshot.
   */
  follow(session: Session): MaybePromise<number | undefined>;
  /** Returns whether the tracker is exactly at this change. */
  isAt(sequence: number): boolean;
  /** Returns whether no key has changed after a change, as far as the log was read. */
  isUnchangedSince(sequence: number, places: readonly string[]): boolean;
}

/** A changed row, and when it changed. */
interface ChangedKeys {
  readonly sequence: number;
  readonly uid: string;
  readonly groupUid: string;
}

/** Creates a tracker. It starts at the snapshot of the first session. */
export function newChangeTracker(kind: string, limits: TrackerLimits): ChangeTracker {
  let sequence: number | undefined;
  /** The data version in which `sequence` was the last change. */
  let state: number | undefined;
  // Per-key tracking starts after this sequence number. A cache entry read before it counts as invalid.
  let changedBefore = 0;
  /** The changed keys with their last change, in order of that change. */
  const changed = new Map<string, number>();

  function note(place: string, at: number): void {
    changed.delete(place);
    changed.set(place, at);
    if (changed.size <= limits.maxKeys) return;
    const [oldest, time] = changed.entries().next().value!;
    changed.delete(oldest);
    changedBefore = Math.max(changedBefore, time);
  }

  /** Records the changes after one change, up to a later one. `changes` is undefined if the log no longer has them. */
  function noteChanges(changes: readonly ChangedKeys[] | undefined, since: number, latest: number): void {
    if (!changes || changes.length > limits.maxChanges) {
      changedBefore = latest;
      changed.clear();
      return;
    }
    for (const change of changes) {
      if (change.sequence > since) for (const place of keysOfChange(change)) note(place, change.sequence);
    }
  }

  async function followTo(session: Session, current: number | undefined): Promise<number | undefined> {
    const latest = await lastChangeOfKind(session, kind);
    sequence ??= latest;
    if (sequence < latest) {
      const changes = await readChangedKeys(session, kind, sequence, limits.maxChanges + 1);
      // Another session may have read further while this one waited for the database. Its records stay: recorded again
      // from here, a key would seem to have changed earlier than it did.
      if (sequence < latest) {
        noteChanges(changes, sequence, latest);
        sequence = latest;
      }
    }
    if (sequence !== latest) return undefined;
    state = current;
    return latest;
  }

  return {
    follow(session) {
      const current = session.dataVersion?.();
      return current !== undefined && current === state ? sequence : followTo(session, current);
    },
    isAt: (other) => sequence === other,
    isUnchangedSince: (since, places) =>
      changedBefore <= since && places.every((place) => (changed.get(place) ?? 0) <= since),
  };
}

/** Returns all keys of a row: its uid, and the ranges that contain it or may contain it. */
function keysOfChange({ uid, groupUid }: ChangedKeys): string[] {
  const within = [...ancestorsOf(uid), uid];
  const places = [...within, ...within.map(childrenKey), childrenKey(groupUid)];
  // The group of a root group is the root group itself.
  const hasNone = within.length === 1 || groupUid === platformRoot;
  return hasNone ? [...places, childrenKey(null)] : places;
}
