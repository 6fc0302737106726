// Where the rows of one resource changed last, by the change log: what was read of places that are unchanged still holds.

import type { MaybePromise } from "../../base/maybe-promise.ts";
import { ancestorsOf, platformRoot } from "../../model/uid.ts";
import { lastChangeOfKind, readChangedKeys } from "../change-log/change-log.ts";
import type { Session } from "../engine/session.ts";
import { childrenKey } from "../schema/entry-keys.ts";

/** Sizes of what is kept and done. */
export interface TrackerLimits {
  /** Changes that are followed at once; after more, everything counts as changed. */
  readonly maxChanges: number;
  /** Places of which is known when they last changed. */
  readonly maxKeys: number;
}

/** What is known of the changes of one resource. A place is the uid of a row, or the key of a range (`keyOf`). */
export interface ChangeTracker {
  /**
   * Follows the log up to the snapshot of the session, and answers the last change there. Undefined when another session has
   * followed it further already.
   */
  follow(session: Session): MaybePromise<number | undefined>;
  /** Whether the log has been followed up to this change, and no further. */
  isAt(sequence: number): boolean;
  /** Whether nothing has changed at these places after a change, as far as the log has been followed. */
  isUnchangedSince(sequence: number, places: readonly string[]): boolean;
}

/** A row that changed, and when. */
interface ChangedKeys {
  readonly sequence: number;
  readonly uid: string;
  readonly groupUid: string;
}

/** Begins with what the first session sees: nothing is known to have changed. */
export function newChangeTracker(kind: string, limits: TrackerLimits): ChangeTracker {
  let sequence: number | undefined;
  /** The state of the database in which `sequence` was the last change. */
  let state: number | undefined;
  // Up to this change nothing is known of single places: everything counts as changed.
  let changedBefore = 0;
  /** The places that changed since, with their last change; those that changed first come first. */
  const changed = new Map<string, number>();

  function note(place: string, at: number): void {
    changed.delete(place);
    changed.set(place, at);
    if (changed.size <= limits.maxKeys) return;
    const [oldest, time] = changed.entries().next().value!;
    changed.delete(oldest);
    changedBefore = Math.max(changedBefore, time);
  }

  /** Notes what changed after one change, up to a later one; undefined where the log has it no more. */
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
      // Another session may have followed it further while this one waited for the database. What that one has noted stays:
      // noted once more from here, a place would seem to have changed earlier than it did.
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

/** Every place that a row belongs to: itself, and the ranges that it lies in, or may lie in. */
function keysOfChange({ uid, groupUid }: ChangedKeys): string[] {
  const within = [...ancestorsOf(uid), uid];
  const places = [...within, ...within.map(childrenKey), childrenKey(groupUid)];
  // A root group is filed under itself.
  const hasNone = within.length === 1 || groupUid === platformRoot;
  return hasNone ? [...places, childrenKey(null)] : places;
}
