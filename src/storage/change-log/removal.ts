// Deletes old changes from the change log, and tells readers whether they missed some.

import { limitOf, numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { raiseSettingTo, readSetting } from "../engine/settings.ts";
import { and, asc, eq, gte, lte, not, sql } from "../schema/drizzle.ts";
import { lastChangeOfKind, wantedKind } from "./change-log.ts";
import { findLogPosition, type LogPosition } from "./history.ts";

const removedSetting = "changes_removed";

/** Returns the sequence number of the last deleted change; 0 if none was. All later changes are complete. */
export async function lastTrimmedChange(session: Session): Promise<number> {
  return Number((await readSetting(session, removedSetting)) ?? 0);
}

/**
 * Returns whether all changes after a position are in the log. Changes are deleted after the retention
 * (docs/design/audit-and-events.md), and a restored backup may lack changes that clients have seen.
 */
export async function hasAllAfter(session: Session, position: LogPosition): Promise<boolean> {
  const removed = await lastTrimmedChange(session);
  if (position.sequence < removed) return false;
  const found = await findLogPosition(session, position.sequence);
  return found ? found.time === position.time : position.sequence === removed;
}

/**
 * Deletes changes made at or before a time, oldest first, up to `batchSize`. Returns whether none are left. The last
 * change of each kind stays: caches compare it to detect changes of the kind.
 */
export async function removeChanges(tx: Transaction, time: number, batchSize: number): Promise<boolean> {
  const oldest = await readOldest(tx, batchSize);
  const newer = oldest.findIndex((change) => change.time > time);
  const outdated = newer < 0 ? oldest : oldest.slice(0, newer);
  if (outdated.length > 0) await removeAllButLatest(tx, outdated);
  return outdated.length < batchSize;
}

/**
 * Deletes changes of a kind made at or before a time, oldest first, up to `batchSize`. Returns whether none are left. For
 * kinds that no cache follows: the last change need not stay.
 */
export async function removeOldestOfKind(
  tx: Transaction,
  kind: string,
  time: number,
  batchSize: number,
): Promise<boolean> {
  const oldest = await tx
    .prepared("changes.oldest_of_kind", (db, { changes }) =>
      db
        .select({ sequence: changes.sequence, time: changes.time })
        .from(changes)
        .where(eq(changes.kind, wantedKind))
        .orderBy(asc(changes.sequence))
        .limit(limitOf("limit")),
    )
    .execute({ kind, limit: batchSize });
  const outdated = oldest.filter((change) => change.time <= time);
  const last = outdated.at(-1);
  if (last) {
    const statement = tx.prepared("changes.remove_of_kind", (db, { changes }) =>
      db.delete(changes).where(and(eq(changes.kind, wantedKind), lte(changes.sequence, numberPlaceholder("to")))),
    );
    await statement.execute({ kind, to: last.sequence });
    // Readers at an earlier position have missed something.
    await raiseSettingTo(tx, removedSetting, last.sequence);
  }
  return outdated.length < batchSize;
}

async function readOldest(tx: Transaction, limit: number) {
  const statement = tx.prepared("changes.oldest", (db, { changes }) =>
    db
      .select({ sequence: changes.sequence, time: changes.time, kind: changes.kind })
      .from(changes)
      .orderBy(asc(changes.sequence))
      .limit(limitOf("limit")),
  );
  return await statement.execute({ limit });
}

async function removeAllButLatest(
  tx: Transaction,
  outdated: readonly { readonly sequence: number; readonly kind: string }[],
): Promise<void> {
  const latest: number[] = [];
  for (const kind of new Set(outdated.map((change) => change.kind))) latest.push(await lastChangeOfKind(tx, kind));
  const last = outdated.findLast(({ sequence }) => !latest.includes(sequence));
  if (!last) return;
  const statement = tx.prepared("changes.remove", (db, { changes }) =>
    db.delete(changes).where(
      and(
        // The range has both bounds: with one, PostgreSQL estimates a third of the log, and may scan all of it.
        gte(changes.sequence, numberPlaceholder("from")),
        lte(changes.sequence, numberPlaceholder("to")),
        not(tx.isAmong(sql`cast(${changes.sequence} as text)`, textPlaceholder("latest"))),
      ),
    ),
  );
  const [from, to] = [outdated[0]!.sequence, outdated.at(-1)!.sequence];
  await statement.execute({ from, to, latest: JSON.stringify(latest.map(String)) });
  await raiseSettingTo(tx, removedSetting, last.sequence);
}
