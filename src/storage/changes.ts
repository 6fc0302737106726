// The change log: what was changed, by whom, in the order of commits. Audit, webhooks and watchers are readers of it.

import { numberPlaceholder, textPlaceholder } from "./condition.ts";
import { and, asc, desc, eq, gt, gte, lte, not, sql } from "./drizzle.ts";
import { atMost } from "./placeholders.ts";
import type { Session, Transaction, WriteContext } from "./session.ts";
import { raiseSetting, readSetting } from "./settings.ts";

// Only the rows of some kinds are in the index for access requests. Of a bare placeholder SQLite would ask at every run whether its
// value is among them, and plan the statement anew; see `atMost`.
const wantedKind = textPlaceholder("kind");

const removedSetting = "changes_removed";

/** One change of one resource. */
export interface ChangeEntry {
  readonly kind: string;
  readonly uid: string;
  /** The group it is filed under: for groups themselves; for anything deleted and for the rest the one above. */
  readonly groupUid: string;
  /** The row before; null for an insert. */
  readonly before: unknown;
  /** The row after; null for a delete. */
  readonly after: unknown;
  /** Who caused it and how, where that is not what the transaction's context says. */
  readonly by?: Pick<WriteContext, "actor" | "actorClaims" | "method" | "requestId">;
}

/** Writes the changes of one transaction at its end; whoever calls it has ordered them by commit. */
export async function writeChanges(
  session: Session,
  context: WriteContext,
  entries: readonly ChangeEntry[],
): Promise<void> {
  const statement = session.prepared("changes.append", (db, { changes }) =>
    db.insert(changes).values({
      time: sql.placeholder("time"),
      actor: sql.placeholder("actor"),
      actorClaims: sql.placeholder("actorClaims"),
      method: sql.placeholder("method"),
      requestId: sql.placeholder("requestId"),
      kind: sql.placeholder("kind"),
      uid: sql.placeholder("uid"),
      groupUid: sql.placeholder("groupUid"),
      before: sql.placeholder("before"),
      after: sql.placeholder("after"),
    }),
  );
  for (const { by = context, ...entry } of entries) {
    const { actor, actorClaims = null, method, requestId } = by;
    await statement.execute({ time: context.time, actor, actorClaims, method, requestId, ...entry });
  }
}

/** The changes after a sequence number, oldest first. */
export async function readChanges(session: Session, after: number, limit: number) {
  const statement = session.prepared("changes.read", (db, { changes }) =>
    db
      .select()
      .from(changes)
      .where(gt(changes.sequence, sql.placeholder("after")))
      .orderBy(asc(changes.sequence))
      .limit(atMost("limit")),
  );
  return await statement.execute({ after, limit });
}

/** What tells calls and kinds apart, of the changes after a sequence number, oldest first. */
export async function readChangeHeads(session: Session, after: number, limit: number) {
  const statement = session.prepared("changes.heads", (db, { changes }) => {
    const { sequence, time, method, kind, uid, requestId } = changes;
    return db
      .select({ sequence, time, method, kind, uid, requestId })
      .from(changes)
      .where(gt(changes.sequence, sql.placeholder("after")))
      .orderBy(asc(changes.sequence))
      .limit(atMost("limit"));
  });
  return await statement.execute({ after, limit });
}

/** By uid, the number of the latest change of each row of a kind that was changed after a sequence number. */
export async function latestByUid(session: Session, kind: string, after: number): Promise<ReadonlyMap<string, number>> {
  const statement = session.prepared("changes.latest_by_uid", (db, { changes }) =>
    db
      .select({ uid: changes.uid, sequence: changes.sequence })
      .from(changes)
      .where(and(eq(changes.kind, wantedKind), gt(changes.sequence, sql.placeholder("after"))))
      .orderBy(asc(changes.sequence)),
  );
  return new Map((await statement.execute({ kind, after })).map(({ uid, sequence }) => [uid, sequence]));
}

/** The number of the latest change that was removed: of what came later nothing is missing. 0 when none was. */
export async function latestRemovedChange(session: Session): Promise<number> {
  return Number((await readSetting(session, removedSetting)) ?? 0);
}

/** The number of the latest change; 0 before the first. */
export async function latestChange(session: Session): Promise<number> {
  const statement = session.prepared("changes.latest", (db, { changes }) =>
    db.select({ sequence: changes.sequence }).from(changes).orderBy(desc(changes.sequence)).limit(atMost(1)),
  );
  return (await statement.execute())[0]?.sequence ?? 0;
}

/**
 * What rows of a kind became by the changes after one of them, oldest first. Undefined when they are no longer all there: see
 * `following`.
 */
export async function readChangesOfKind(session: Session, kind: string, after: number, limit: number) {
  const statement = session.prepared("changes.read_of_kind", (db, { changes }) =>
    db
      .select({ sequence: changes.sequence, uid: changes.uid, after: changes.after })
      .from(changes)
      .where(and(eq(changes.kind, wantedKind), gte(changes.sequence, sql.placeholder("after"))))
      .orderBy(asc(changes.sequence))
      .limit(atMost("limit")),
  );
  return following(after, await statement.execute({ kind, after, limit: limit + 1 }));
}

/** What rows of a kind were, and became; as `readChangesOfKind`. */
export async function readDifferencesOfKind(session: Session, kind: string, after: number, limit: number) {
  const statement = session.prepared("changes.differences_of_kind", (db, { changes }) =>
    db
      .select({ sequence: changes.sequence, before: changes.before, after: changes.after })
      .from(changes)
      .where(and(eq(changes.kind, wantedKind), gte(changes.sequence, sql.placeholder("after"))))
      .orderBy(asc(changes.sequence))
      .limit(atMost("limit")),
  );
  return following(after, await statement.execute({ kind, after, limit: limit + 1 }));
}

/** Where rows of a kind were changed; as `readChangesOfKind`. */
export async function readPlacesOfKind(session: Session, kind: string, after: number, limit: number) {
  const statement = session.prepared("changes.places_of_kind", (db, { changes }) =>
    db
      .select({ sequence: changes.sequence, uid: changes.uid, groupUid: changes.groupUid })
      .from(changes)
      .where(and(eq(changes.kind, wantedKind), gte(changes.sequence, sql.placeholder("after"))))
      .orderBy(asc(changes.sequence))
      .limit(atMost("limit")),
  );
  return following(after, await statement.execute({ kind, after, limit: limit + 1 }));
}

/**
 * The changes behind the one that a reader came to, which has been read with them. Of a kind the oldest are removed first: as
 * long as that one is there, so are all that follow it. Without it nobody knows.
 */
function following<C extends { readonly sequence: number }>(after: number, found: readonly C[]): C[] | undefined {
  return found[0]?.sequence === after ? found.slice(1) : undefined;
}

/**
 * The sequence number of the latest change of a kind; 0 before the first. While it stays, so does everything of the kind.
 *
 * It is worded so that only the index by kind and sequence fits. Of `kind = …` PostgreSQL knows that it needs no order by kind: it
 * would go back through the log by its key, all the way for a kind that hardly ever changes.
 */
export async function latestOfKind(session: Session, kind: string): Promise<number> {
  const statement = session.prepared("changes.latest_of_kind", (db, { changes }) =>
    db
      .select({ sequence: changes.sequence })
      .from(changes)
      .where(and(gte(changes.kind, wantedKind), lte(changes.kind, wantedKind)))
      .orderBy(desc(changes.kind), desc(changes.sequence))
      .limit(atMost(1)),
  );
  return (await statement.execute({ kind }))[0]?.sequence ?? 0;
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
        .limit(atMost("limit")),
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
    await raiseSetting(tx, removedSetting, last.sequence);
  }
  return outdated.length < portion;
}

async function readOldest(tx: Transaction, limit: number) {
  const statement = tx.prepared("changes.oldest", (db, { changes }) =>
    db
      .select({ sequence: changes.sequence, time: changes.time, kind: changes.kind })
      .from(changes)
      .orderBy(asc(changes.sequence))
      .limit(atMost("limit")),
  );
  return await statement.execute({ limit });
}

async function removeAllButLatest(
  tx: Transaction,
  outdated: readonly { readonly sequence: number; readonly kind: string }[],
): Promise<void> {
  const latest: number[] = [];
  for (const kind of new Set(outdated.map((change) => change.kind))) latest.push(await latestOfKind(tx, kind));
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
  await raiseSetting(tx, removedSetting, last.sequence);
}
