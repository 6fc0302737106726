// How changes leave the change log, and how those who follow it learn that something is missing.

import { limitOf, numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { raiseSettingTo, readSetting } from "../engine/settings.ts";
import { and, asc, eq, gte, lte, not, sql } from "../schema/drizzle.ts";
import { lastChangeOfKind, wantedKind } from "./change-log.ts";
import { findLogPosition, type LogPosition } from "./history.ts";

const removedSetting = "changes_removed";

/** The number of the latest change that was removed: of what came later nothing is missing. 0 when none was. */
export async function lastTrimmedChange(session: Session): Promise<number> {
  return Number((await readSetting(session, removedSetting)) ?? 0);
}

/**
 * Whether all changes after a place are in the log. Changes are kept as long as the operator says
 * (docs/decisions/0030), and a restored backup has fewer than clients were told of.
 */
export async function hasAllAfter(session: Session, place: LogPosition): Promise<boolean> {
  const removed = await lastTrimmedChange(session);
  if (place.sequence < removed) return false;
  const found = await findLogPosition(session, place.sequence);
  return found ? found.time === place.time : place.sequence === removed;
}

/**
 * Removes changes that were made at a time or before it, the oldest first and of so many at most, and answers whether that was
 * all. The latest of each kind stays: by it readers know whether anything of the kind has changed.
 */
export async function removeChanges(tx: Transaction, time: number, portion: number): Promise<boolean> {
  const oldest = await readOldest(tx, portion);
  const newer = oldest.findIndex((change) => change.time > time);
  const outdated = newer < 0 ? oldest : oldest.slice(0, newer);
  if (outdated.length > 0) await removeAllButLatest(tx, outdated);
  return outdated.length < portion;
}

/**
 * Removes changes of a kind that were made at a time or before it, the oldest first and of so many at most, and answers whether
 * that was all. It is for kinds that no cache follows: none of them need stay.
 */
export async function removeOldestOfKind(
  tx: Transaction,
  kind: string,
  time: number,
  portion: number,
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
    .execute({ kind, limit: portion });
  const outdated = oldest.filter((change) => change.time <= time);
  const last = outdated.at(-1);
  if (last) {
    const statement = tx.prepared("changes.remove_of_kind", (db, { changes }) =>
      db.delete(changes).where(and(eq(changes.kind, wantedKind), lte(changes.sequence, numberPlaceholder("to")))),
    );
    await statement.execute({ kind, to: last.sequence });
    // Who follows the log from before it has missed something.
    await raiseSettingTo(tx, removedSetting, last.sequence);
  }
  return outdated.length < portion;
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
        // A range of both ends: of one alone PostgreSQL expects a third of the log, and may read all of it.
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
