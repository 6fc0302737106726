// Finds dangling references, by the declared foreign keys.
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { CollectionTables } from "../collection/collection.ts";
import { limitOf } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { scanTable } from "../engine/table-scan.ts";
import {
  aliasedTable,
  and,
  asc,
  eq,
  getTableColumns,
  gt,
  isNotNull,
  isNull,
  loadPostgresCore,
  sql,
} from "../schema/drizzle.ts";
import { postgresTables } from "../schema/tables.postgres.ts";
import type { Tables } from "../schema/tables.ts";

const pageSize = 1000;

/** A column whose values are uids of another table. */
interface Reference {
  readonly column: string;
  readonly target: keyof Tables;
}

/** A row that refers to a missing row. */
export interface DanglingReference {
  readonly uid: string;
  readonly column: string;
  /** The missing uid. */
  readonly value: string;
}

/** Yields rows whose parent, or another referenced row, does not exist. */
export async function* danglingReferences(
  session: Session,
  collection: CollectionTables,
): AsyncGenerator<DanglingReference> {
  for (const reference of referencesOf(collection)) yield* danglingIn(session, collection, reference);
}

async function* danglingIn(
  session: Session,
  collection: CollectionTables,
  { column, target }: Reference,
): AsyncGenerator<DanglingReference> {
  const statement = session.prepared(`${collection.kind}.check.references.${column}`, (db, tables) => {
    const rows = collection.rows(tables);
    const value = columnOf(rows, column);
    // Aliased, because a group refers to a group.
    const targets = aliasedTable(tables[target] as PgTable, "targets");
    const targetUid = columnOf(targets, "uid");
    return db
      .select({ uid: rows.uid, value })
      .from(rows)
      .leftJoin(targets, eq(targetUid, value))
      .where(and(isNotNull(value), isNull(targetUid), gt(rows.uid, sql.placeholder("uid"))))
      .orderBy(asc(rows.uid))
      .limit(limitOf(pageSize));
  });
  const read = (after: string) => statement.execute({ uid: after }) as MaybePromise<{ uid: string; value: string }[]>;
  for await (const page of scanTable(pageSize, "", read, ({ uid }) => uid)) {
    for (const { uid, value } of page) yield { uid, column, value };
  }
}

/** Read from one dialect for both, because tables are declared once. */
function referencesOf(collection: CollectionTables): Reference[] {
  const table = collection.rows(postgresTables);
  return loadPostgresCore()
    .getTableConfig(table)
    .foreignKeys.map((key) => {
      const { columns, foreignTable } = key.reference();
      return {
        column: keyOf(getTableColumns(table), (column) => column.name === columns[0]?.name),
        target: keyOf(postgresTables, (candidate) => candidate === foreignTable),
      };
    });
}

function keyOf<T extends object>(object: T, isWanted: (value: T[keyof T]) => boolean): keyof T & string {
  for (const key in object) if (isWanted(object[key])) return key;
  throw new Error("a foreign key names what is not declared");
}

function columnOf(table: PgTable, name: string): PgColumn {
  return (table as unknown as Record<string, PgColumn>)[name]!;
}
