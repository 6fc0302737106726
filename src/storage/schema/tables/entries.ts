import type { SQL, SQLWrapper } from "drizzle-orm";
import type { Columns } from "../columns.postgres.ts";
import { sql } from "../drizzle.ts";

/** The last 16 characters of a uid, by which groups are indexed; one text for both databases, which index what it says. */
export function lastSegment(uid: SQLWrapper): SQL {
  return sql`substr(${uid}, length(${uid}) - 15)`;
}

/** What stands behind a key's own uid is cut off: it is that uid, empty for the rows without parent. */
function baseOf(key: SQLWrapper): SQL {
  return sql`rtrim(${key}, '/*')`;
}

/** The uid of the row of an entry. */
export function uidOf({ key, tail }: { readonly key: SQLWrapper; readonly tail: SQLWrapper }): SQL<string> {
  return sql<string>`${baseOf(key)} || ${tail}`;
}

/** What an entry of this uid has as its tail under a key. */
export function tailUnder(key: SQLWrapper, uid: SQLWrapper): SQL {
  return sql`substr(${uid}, length(${baseOf(key)}) + 1)`;
}

/** Makes tables of entries, which put the rows of a resource under each of their ancestors. */
export function entriesTable({ table, text, integer, index, primaryKey }: Columns) {
  return (name: string) =>
    table(
      name,
      {
        key: text().notNull(),
        /** What the uid of the row has behind the one that the key is of, which the key tells: a third of an entry. */
        tail: text().notNull(),
        /** As much of it as counts in an order. */
        name: text().notNull(),
        createTime: integer().notNull(),
        updateTime: integer().notNull(),
      },
      (t) => [
        primaryKey({ columns: [t.key, t.name, t.tail] }),
        index(`${name}_create_time`).on(t.key, t.createTime, t.tail),
        index(`${name}_update_time`).on(t.key, t.updateTime, t.tail),
      ],
    );
}
