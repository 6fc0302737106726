// The change log: every change of a resource, in commit order. The audit log, webhooks and caches read it.

import type { SQL } from "drizzle-orm";
import { nextSlice } from "../../base/slices.ts";
import type { LoggedWrite } from "../engine/dialect.ts";
import { jsonRows, selectRows } from "../engine/json-rows.ts";
import { limitOf, rowPlaceholders, textPlaceholder } from "../engine/placeholders.ts";
import type { ChangeEntry, Session, WriteContext } from "../engine/session.ts";
import { and, asc, desc, eq, getTableColumns, gt, gte, lte, sql } from "../schema/drizzle.ts";
import { organizationOf } from "../schema/organization.ts";
import type { Tables } from "../schema/tables.ts";

// Only some kinds are in the index for access requests. With a bare placeholder, SQLite prepares the statement again at
// every run to check whether the value is one of them; see `limitOf`.
export const wantedKind = textPlaceholder("kind");

type ChangeRow = Tables["changes"]["$inferSelect"];
type NewChangeRow = Omit<ChangeRow, "sequence">;

/** How many changes of a large write are converted, and appended, between two looks at the time. */
const pageSize = 200;

/** Appends changes that were converted. The caller has ordered transactions by commit. */
export type AppendChanges = () => Promise<unknown>;

/** Appends the changes of transactions at their end. The caller has ordered them by commit. */
export async function writeChanges(
  session: Session,
  writes: readonly Pick<LoggedWrite, "context" | "changes">[],
): Promise<void> {
  const rows = writes.flatMap(({ context, changes }) => changes.map((change) => rowOf(context, change)));
  if (session.isRemote) {
    if (rows.length > 0) await appendAll(session, rows)();
  } else for (const row of rows) await append(session, row);
}

/** Converts the changes of a large write in slices, before it locks the change log. Returns the function that appends them. */
export async function convertLargeWrite(
  session: Session,
  { context, changes }: Pick<LoggedWrite, "context" | "changes">,
): Promise<AppendChanges> {
  const pages: AppendChanges[] = [];
  for (let i = 0; i < changes.length; i += pageSize) {
    await nextSlice();
    const rows = changes.slice(i, i + pageSize).map((change) => rowOf(context, change));
    pages.push(session.isRemote ? appendAll(session, rows) : () => appendEach(session, rows));
  }
  // A remote database gets all statements at once. Elsewhere one writes after the other, since the log has their order.
  if (session.isRemote) return () => Promise.all(pages.map((append) => append()));
  return async () => {
    for (const append of pages) await append();
  };
}

async function appendEach(session: Session, rows: readonly NewChangeRow[]): Promise<void> {
  await nextSlice();
  for (const row of rows) await append(session, row);
}

function rowOf(context: WriteContext, { by = context, ...entry }: ChangeEntry): NewChangeRow {
  const { actor, actorClaims = null, method, requestId } = by;
  return { time: context.time, actor, actorClaims, method, requestId, ...entry };
}

async function append(session: Session, row: NewChangeRow): Promise<void> {
  const statement = session.prepared("changes.append", (db, { changes }) => {
    const { sequence: _, ...columns } = getTableColumns(changes);
    return db.insert(changes).values(rowPlaceholders(Object.keys(columns) as (keyof NewChangeRow)[]));
  });
  await statement.execute({ ...row });
}

/** Returns the function that appends the changes with one statement, which numbers them in their order. */
function appendAll(session: Session, rows: readonly NewChangeRow[]): AppendChanges {
  const statement = session.prepared("changes.append_all", (db, { changes }) => {
    // As a subquery, it is looked up once for all rows.
    const name = sql`(select cast(pg_get_serial_sequence('changes', 'sequence') as regclass))`;
    const sequence = sql`nextval(${name})`;
    const selected = selectRows(getTableColumns(changes), { sequence });
    // Drizzle omits this clause before a SELECT.
    return db.insert(changes).select(sql`overriding system value ${selected}`);
  });
  const columns = getTableColumns(session.tables.changes);
  const json = jsonRows(columns, rows);
  return async () => await statement.execute({ rows: json });
}

/** Returns changes after a sequence number, oldest first. */
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

/** Returns changes after a sequence number, oldest first, without actor, group and rows. */
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

/** Returns the condition of changes that create a row. A JSON column has NULL or the text `null`, by the way in which the row was written. */
export function isCreation({ before }: Tables["changes"]): SQL {
  return sql`coalesce(cast(${before} as text), 'null') = 'null'`;
}

/** Returns, by uid, the sequence numbers of the creations of rows of a kind after a sequence number. */
export async function findCreations(
  session: Session,
  kind: string,
  after: number,
): Promise<ReadonlyMap<string, number>> {
  const statement = session.prepared("changes.creations", (db, { changes }) =>
    db
      .select({ uid: changes.uid, sequence: changes.sequence })
      .from(changes)
      .where(and(eq(changes.kind, wantedKind), gt(changes.sequence, sql.placeholder("after")), isCreation(changes)))
      .orderBy(asc(changes.sequence)),
  );
  return new Map((await statement.execute({ kind, after })).map(({ uid, sequence }) => [uid, sequence]));
}

/** Returns the sequence number of the last change; 0 before the first. */
export async function lastChange(session: Session): Promise<number> {
  const statement = session.prepared("changes.latest", (db, { changes }) =>
    db.select({ sequence: changes.sequence }).from(changes).orderBy(desc(changes.sequence)).limit(limitOf(1)),
  );
  return (await statement.execute())[0]?.sequence ?? 0;
}

/** Returns the sequence number of the last change in an organization; 0 before the first. While it stays the same, so do its resources. */
export async function lastChangeIn(session: Session, organizationUid: string): Promise<number> {
  const statement = session.prepared("changes.latest_in", (db, { changes }) =>
    db
      .select({ sequence: changes.sequence })
      .from(changes)
      .where(eq(organizationOf(changes.groupUid), textPlaceholder("organization")))
      .orderBy(desc(changes.sequence))
      .limit(limitOf(1)),
  );
  return (await statement.execute({ organization: organizationUid }))[0]?.sequence ?? 0;
}

/** The keys of a changed row: its uid and its group. */
const keyColumns = ["uid", "groupUid"] as const;
/** The states of a changed row. */
const stateColumns = ["before", "after"] as const;

/** Returns the uid and group of each change of a kind after `after`; see `readChangesOfKind`. */
export async function readChangedKeys(session: Session, kind: string, after: number, limit: number) {
  return await readChangesOfKind(session, kind, after, limit, keyColumns);
}

/** Returns the uid and group of the oldest changes of a kind that are still in the log. */
export async function readFirstChangedKeys(session: Session, kind: string, limit: number) {
  return await selectChangesOfKind(session, kind, 0, limit, keyColumns);
}

/** Returns the row before and after each change of a kind after `after`; see `readChangesOfKind`. */
export async function readChangedRows(session: Session, kind: string, after: number, limit: number) {
  return await readChangesOfKind(session, kind, after, limit, stateColumns);
}

/**
 * Returns up to `limit` changes of a kind after `after`, oldest first, with these columns. Returns undefined if retention has
 * deleted some of them. It deletes the oldest changes of a kind first: while the change `after` is there, so are all later ones.
 */
async function readChangesOfKind<C extends keyof ChangeRow>(
  session: Session,
  kind: string,
  after: number,
  limit: number,
  columns: readonly C[],
): Promise<Pick<ChangeRow, C | "sequence">[] | undefined> {
  const found = await selectChangesOfKind(session, kind, after, limit + 1, columns);
  return found[0]?.sequence === after ? found.slice(1) : undefined;
}

/** Returns changes of a kind from a sequence number on. */
async function selectChangesOfKind<C extends keyof ChangeRow>(
  session: Session,
  kind: string,
  from: number,
  limit: number,
  columns: readonly C[],
): Promise<Pick<ChangeRow, C | "sequence">[]> {
  const statement = session.prepared(`changes.of_kind.${columns.join(".")}`, (db, { changes }) => {
    const selected = Object.fromEntries(["sequence" as const, ...columns].map((column) => [column, changes[column]]));
    return db
      .select(selected)
      .from(changes)
      .where(and(eq(changes.kind, wantedKind), gte(changes.sequence, sql.placeholder("from"))))
      .orderBy(asc(changes.sequence))
      .limit(limitOf("limit"));
  });
  return (await statement.execute({ kind, from, limit })) as Pick<ChangeRow, C | "sequence">[];
}

/**
 * Returns the sequence number of the last change of a kind; 0 before the first. While it stays the same, so do all rows
 * of the kind.
 *
 * Only the index by kind and sequence fits this condition. With `kind = …`, PostgreSQL drops the
 * order by kind and scans the log backwards by its primary key: through all of it for a kind that rarely changes.
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
