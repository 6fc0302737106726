import type { Columns } from "../columns.postgres.ts";

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
