import type { SQL, SQLWrapper } from "drizzle-orm";
import type { Columns } from "../columns.postgres.ts";
import { sql } from "../drizzle.ts";

/** The last 16 characters of a uid, by which groups are indexed; one text for both databases, which index what it says. */
export function lastSegment(uid: SQLWrapper): SQL {
  return sql`substr(${uid}, length(${uid}) - 15)`;
}

/** Makes tables of entries, which put the rows of a resource under each of their ancestors. */
export function entriesTable({ table, text, integer, index, primaryKey }: Columns) {
  return (name: string) =>
    table(
      name,
      {
        key: text().notNull(),
        uid: text().notNull(),
        /** As much of it as counts in an order. */
        name: text().notNull(),
        createTime: integer().notNull(),
        updateTime: integer().notNull(),
      },
      (t) => [
        primaryKey({ columns: [t.key, t.name, t.uid] }),
        index(`${name}_create_time`).on(t.key, t.createTime, t.uid),
        index(`${name}_update_time`).on(t.key, t.updateTime, t.uid),
      ],
    );
}
