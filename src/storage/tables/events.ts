import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Columns } from "../columns.postgres.ts";
import { entriesTable } from "./entries.ts";

/** Who wants to know of events. */
export function defineEventTables(columns: Columns, groupUid: () => AnyPgColumn) {
  const { table, text, integer, index } = columns;
  const entries = entriesTable(columns);

  return {
    subscriptions: table(
      "subscriptions",
      {
        uid: text().primaryKey(),
        parent: text().notNull().references(groupUid),
        sink: text().notNull(),
        createTime: integer().notNull(),
      },
      (t) => [index("subscriptions_parent").on(t.parent, t.uid)],
    ),
    subscriptionEntries: entries("subscription_entries"),
  };
}
