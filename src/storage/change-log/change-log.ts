// The change log: what was changed, by whom, in the order of commits. Audit, webhooks and watchers are readers of it.

import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { ChangeEntry, Session, WriteContext } from "../engine/session.ts";
import { and, asc, desc, eq, gt, gte, lte, sql } from "../schema/drizzle.ts";

// Only the rows of some kinds are in the index for access requests. Of a bare placeholder SQLite would ask at every run whether its
// value is among them, and plan the statement anew; see `atMost`.
export const wantedKind = textPlaceholder("kind");

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
      .limit(limitOf("limit")),
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
      .limit(limitOf("limit"));
  });
  return await statement.execute({ after, limit });
}

/** By uid, the number of the latest change of each row of a kind that was changed after a sequence number. */
export async function lastChangeByUid(
  session: Session,
  kind: string,
  after: number,
): Promise<ReadonlyMap<string, number>> {
  const statement = session.prepared("changes.latest_by_uid", (db, { changes }) =>
    db
      .select({ uid: changes.uid, sequence: changes.sequence })
      .from(changes)
      .where(and(eq(changes.kind, wantedKind), gt(changes.sequence, sql.placeholder("after"))))
      .orderBy(asc(changes.sequence)),
  );
  return new Map((await statement.execute({ kind, after })).map(({ uid, sequence }) => [uid, sequence]));
}

/** The number of the latest change; 0 before the first. */
export async function lastChange(session: Session): Promise<number> {
  const statement = session.prepared("changes.latest", (db, { changes }) =>
    db.select({ sequence: changes.sequence }).from(changes).orderBy(desc(changes.sequence)).limit(limitOf(1)),
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
      .limit(limitOf("limit")),
  );
  return changesSince(after, await statement.execute({ kind, after, limit: limit + 1 }));
}

/** What rows of a kind were, and became; as `readChangesOfKind`. */
export async function readChangedRows(session: Session, kind: string, after: number, limit: number) {
  const statement = session.prepared("changes.differences_of_kind", (db, { changes }) =>
    db
      .select({ sequence: changes.sequence, before: changes.before, after: changes.after })
      .from(changes)
      .where(and(eq(changes.kind, wantedKind), gte(changes.sequence, sql.placeholder("after"))))
      .orderBy(asc(changes.sequence))
      .limit(limitOf("limit")),
  );
  return changesSince(after, await statement.execute({ kind, after, limit: limit + 1 }));
}

/** Where rows of a kind were changed; as `readChangesOfKind`. */
export async function readChangedKeys(session: Session, kind: string, after: number, limit: number) {
  const statement = session.prepared("changes.places_of_kind", (db, { changes }) =>
    db
      .select({ sequence: changes.sequence, uid: changes.uid, groupUid: changes.groupUid })
      .from(changes)
      .where(and(eq(changes.kind, wantedKind), gte(changes.sequence, sql.placeholder("after"))))
      .orderBy(asc(changes.sequence))
      .limit(limitOf("limit")),
  );
  return changesSince(after, await statement.execute({ kind, after, limit: limit + 1 }));
}

/**
 * The changes behind the one that a reader came to, which has been read with them. Of a kind the oldest are removed first: as
 * long as that one is there, so are all that follow it. Without it nobody knows.
 */
function changesSince<C extends { readonly sequence: number }>(after: number, found: readonly C[]): C[] | undefined {
  return found[0]?.sequence === after ? found.slice(1) : undefined;
}

/**
 * The sequence number of the latest change of a kind; 0 before the first. While it stays, so does everything of the kind.
 *
 * It is worded so that only the index by kind and sequence fits. Of `kind = …` PostgreSQL knows that it needs no order by kind: it
 * would go back through the log by its key, all the way for a kind that hardly ever changes.
 */
export async function lastChangeOfKind(session: Session, kind: string): Promise<number> {
  const statement = session.prepared("changes.latest_of_kind", (db, { changes }) =>
    db
      .select({ sequence: changes.sequence })
      .from(changes)
      .where(and(gte(changes.kind, wantedKind), lte(changes.kind, wantedKind)))
      .orderBy(desc(changes.kind), desc(changes.sequence))
      .limit(limitOf(1)),
  );
  return (await statement.execute({ kind }))[0]?.sequence ?? 0;
}
