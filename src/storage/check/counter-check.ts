// Compares the counters of a collection with its rows, page by page.
import type { SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import type { CollectionTables, RowTable } from "../collection/collection.ts";
import { limitOf } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { scanTable } from "../engine/table-scan.ts";
import { and, asc, eq, gt, isNull, sql } from "../schema/drizzle.ts";

const pageSize = 1000;

/** A counter with a wrong value. */
export interface WrongCounter {
  readonly key: string;
  readonly stored: number;
  readonly actual: number;
}

/** Yields counters that differ from the number of rows under their key. */
export async function* wrongCounters(session: Session, collection: CollectionTables): AsyncGenerator<WrongCounter> {
  const { kind } = collection;
  const statement = session.prepared(`${kind}.check.counters`, (db, tables) => {
    const { counters } = tables;
    return db
      .select({ key: counters.key, stored: counters.count, actual: rowsUnder(collection.rows(tables), counters.key) })
      .from(counters)
      .where(and(eq(counters.kind, sql.placeholder("kind")), gt(counters.key, sql.placeholder("key"))))
      .orderBy(asc(counters.key))
      .limit(limitOf(pageSize));
  });
  const read = (after: string) => statement.execute({ kind, key: after });
  for await (const page of scanTable(pageSize, "", read, ({ key }) => key)) {
    for (const counter of page) if (counter.stored !== counter.actual) yield counter;
  }
}

/** Yields keys with entries but without a counter. */
export async function* missingCounters(session: Session, collection: CollectionTables): AsyncGenerator<string> {
  const { kind } = collection;
  const statement = session.prepared(`${kind}.check.missing_counters`, (db, tables) => {
    const { counters } = tables;
    const entries = collection.entries(tables);
    return db
      .select({ key: entries.key })
      .from(entries)
      .leftJoin(counters, and(eq(counters.key, entries.key), eq(counters.kind, sql.placeholder("kind"))))
      .where(and(isNull(counters.key), gt(entries.key, sql.placeholder("key"))))
      .groupBy(entries.key)
      .orderBy(asc(entries.key))
      .limit(limitOf(pageSize));
  });
  const read = (after: string) => statement.execute({ kind, key: after });
  for await (const page of scanTable(pageSize, "", read, ({ key }) => key)) for (const { key } of page) yield key;
}

/** Counts the rows under a key: without parent, with this parent, or descendants of this uid. */
function rowsUnder(rows: RowTable, key: PgColumn): SQL<number> {
  const number = (condition: SQL) => sql`(select count(*) from ${rows} where ${condition})`;
  return sql`case
    when ${key} = '/*' then ${number(sql`${rows.parent} is null`)}
    when ${key} like '%/*' then ${number(sql`${rows.parent} = substr(${key}, 1, length(${key}) - 2)`)}
    else ${number(sql`${rows.uid} >= ${key} || '/' and ${rows.uid} < ${key} || '0'`)}
  end`.mapWith(Number);
}
