import type { SQL, SQLWrapper } from "drizzle-orm";
import type { Columns } from "../columns.postgres.ts";
import { sql } from "../drizzle.ts";

/** Returns the last segment of a uid, 16 characters, by which groups are indexed. Both databases index this text. */
export function lastSegment(uid: SQLWrapper): SQL {
  return sql`substr(${uid}, length(${uid}) - 15)`;
}

/** Returns the uid of a key, without the suffix for children; empty for the rows without parent. */
function baseOf(key: SQLWrapper): SQL {
  return sql`rtrim(${key}, '/*')`;
}

/** Returns the uid of the row of an entry. */
export function uidOf({ key, tail }: { readonly key: SQLWrapper; readonly tail: SQLWrapper }): SQL<string> {
  return sql<string>`${baseOf(key)} || ${tail}`;
}

/** Returns the tail that the entry of a uid has under a key. */
export function tailUnder(key: SQLWrapper, uid: SQLWrapper): SQL {
  return sql`substr(${uid}, length(${baseOf(key)}) + 1)`;
}

/**
 * Returns a function that declares a table of entries, which lists the rows of a resource under each of their
 * ancestors.
 */
export function entriesTable({ table, text, integer, index, primaryKey }: Columns) {
  return (name: string) =>
    table(
      name,
      {
        key: text().notNull(),
        /** The rest of the row's uid after the uid of the key. Leaving that out saves a third of an entry. */
        tail: text().notNull(),
        /** The sort prefix of the name. */
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
