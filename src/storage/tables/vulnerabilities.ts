import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Columns } from "../columns.postgres.ts";
import { entriesTable } from "./entries.ts";

/** Advisories and their events. */
export function defineVulnerabilityTables(columns: Columns, groupUid: () => AnyPgColumn) {
  const { table, text, integer, json, index, uniqueIndex } = columns;
  const entries = entriesTable(columns);

  const advisories = table(
    "advisories",
    {
      uid: text().primaryKey(),
      parent: text().notNull().references(groupUid),
      /** The public id, by which advisories are ordered. */
      name: text().notNull(),
      /** Empty when there is none. */
      legacyAdvisoryId: text().notNull(),
      author: text().notNull(),
      artifactName: text().notNull(),
      artifactType: text().notNull(),
      artifactArchitecture: text().notNull(),
      /** The package that the artifact is built from. */
      origin: text().notNull(),
      componentName: text().notNull(),
      componentType: text().notNull(),
      componentLocation: text().notNull(),
      aliases: json<string[]>().notNull(),
      severities: json<{ readonly type: number; readonly score: string }[]>().notNull(),
      /** The type of the latest approved event; 0 when there is none. */
      latestEventType: integer().notNull(),
      /** What a query looks through, in lower case, one line each. */
      searchText: text().notNull(),
      createTime: integer().notNull(),
      updateTime: integer().notNull(),
    },
    (t) => [uniqueIndex("advisories_once").on(t.parent, t.name), index("advisories_parent").on(t.parent, t.uid)],
  );

  return {
    advisories,
    advisoryEntries: entries("advisory_entries"),

    /** What became of advisories. */
    advisoryEvents: table(
      "advisory_events",
      {
        uid: text().primaryKey(),
        advisoryUid: text()
          .notNull()
          .references(() => advisories.uid),
        createTime: integer().notNull(),
        author: text().notNull(),
        reviewer: text().notNull(),
        reviewState: integer().notNull(),
        /** The number of the type in EventTypeFilter. */
        type: integer().notNull(),
        /** The protobuf JSON of the whole event but its uid. */
        event: json<unknown>().notNull(),
      },
      (t) => [index("advisory_events_of").on(t.advisoryUid, t.createTime, t.uid)],
    ),
  };
}
