// How far the findings of images follow the changes of advisories.
import { rootOf } from "../../../model/uid.ts";
import { lastChangeOfKind, readChangedKeys, readFirstChangedKeys } from "../../../storage/change-log/change-log.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { readSetting } from "../../../storage/engine/settings.ts";
import { advisoryCollection } from "../../../storage/vulnerabilities/rows.ts";
import { contentLimits } from "./limits.ts";

/** The setting with the position in the change log up to which advisories were followed. */
export const positionSetting = "image_findings";

const { kind } = advisoryCollection;

/** Returns the position, as the setting has it, and that of the last change of an advisory; `stored` is undefined before the first look. */
export async function readPositions(
  session: Session,
): Promise<{ readonly stored: string | undefined; readonly last: number }> {
  return { stored: await readSetting(session, positionSetting), last: await lastChangeOfKind(session, kind) };
}

/** Returns the next changes of advisories; undefined if retention has deleted some. Position 0 is that before the first change. */
export async function changesAfter(session: Session, position: number) {
  return position > 0
    ? await readChangedKeys(session, kind, position, contentLimits.changes)
    : await readFirstChangedKeys(session, kind, contentLimits.changes);
}

/**
 * Returns whether an advisory of an organization may have changed since advisories were followed. Only the next changes are looked at: with
 * more of them than are followed at a time, each organization waits.
 */
export async function hasChangesToFollow(session: Session, organization: string): Promise<boolean> {
  const { stored, last } = await readPositions(session);
  if (stored === undefined) return true;
  if (Number(stored) === last) return false;
  const changes = await changesAfter(session, Number(stored));
  return !changes || changes.length >= contentLimits.changes || changes.some(({ uid }) => rootOf(uid) === organization);
}
