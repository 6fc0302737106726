import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Columns } from "../columns.postgres.ts";
import { isNull } from "../drizzle.ts";
import { organizationOf } from "../organization.ts";
import { entriesTable } from "./entries.ts";

/** Advisories, their events, and the records that they are derived from. Long, because it only declares. */
export function defineVulnerabilityTables(columns: Columns, groupUid: () => AnyPgColumn) {
  const { table, text, integer, boolean, json, sequence, index, uniqueIndex, primaryKey } = columns;
  const entries = entriesTable(columns);

  const advisories = table(
    "advisories",
    {
      uid: text().primaryKey(),
      parent: text().notNull().references(groupUid),
      /** The public id; advisories are sorted by it. */
      name: text().notNull(),
      /** Empty if there is none. */
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
      /** The type of the latest approved event; 0 if there is none. */
      latestEventType: integer().notNull(),
      /** The highest base score of the severities in tenths; -1 without one, null until it is computed. */
      score: integer(),
      /** When the first source published it, or else its creation; null together with `score`. */
      publishTime: integer(),
      /** The aliases as one text; v1 can sort by it. */
      aliasText: text().notNull().default(""),
      /** By author, the time of the last import by versions before records, until a record of the author is stored. */
      sources: json<{ readonly author: string; readonly time: number }[]>().notNull().default([]),
      /** The identity of the product; empty if unknown, as in advisories that were created with the API. */
      product: text().notNull().default(""),
      /** The keys by which queries for packages and commits find the advisory. */
      lookUpKeys: json<string[]>().notNull().default([]),
      createTime: integer().notNull(),
      updateTime: integer().notNull(),
    },
    (t) => [
      uniqueIndex("advisories_once").on(t.parent, t.name, t.product),
      index("advisories_parent").on(t.parent, t.uid),
      index("advisories_score").on(t.parent, t.latestEventType, t.score, t.uid),
      // Has all that a search by severity, status and publication looks at, so it reads only the rows of its page.
      index("advisories_published").on(organizationOf(t.uid), t.publishTime, t.uid, t.latestEventType, t.score),
      // Rows of releases without scores: a look for them costs nothing once there are none.
      index("advisories_unscored").on(t.uid).where(isNull(t.score)),
    ],
  );

  return {
    advisories,
    advisoryEntries: entries("advisory_entries"),

    /**
     * Filter terms: one row per value of every filter. A filter is then one range of this table. The value comes
     * first: an advisory often has the same text for several filters, such as a package name, and then changes one
     * page.
     */
    advisoryTerms: table(
      "advisory_terms",
      {
        filter: text().notNull(),
        value: text().notNull(),
        /** The advisory. */
        uid: text().notNull(),
      },
      (t) => [primaryKey({ columns: [t.value, t.filter, t.uid] })],
    ),

    /**
     * The searched texts, in lower case, one value per line, apart from the rows: a search may read them all. The migrations
     * add a trigram index, and on SQLite a column `id` for it (docs/decisions/0052).
     */
    advisoryTexts: table("advisory_texts", { uid: text().primaryKey(), text: text().notNull() }),

    /** Deleted and withdrawn advisories. No list shows them, so they are not rows of the resource. */
    deletedAdvisories: table(
      "deleted_advisories",
      {
        uid: text().primaryKey(),
        parent: text().notNull().references(groupUid),
        name: text().notNull(),
        /** When it was deleted, or withdrawn by its source, by the clock of the source. */
        deleteTime: integer().notNull(),
        /** When the deletion was stored; clients that follow changes receive them in this order. */
        changeTime: integer().notNull().default(0),
        /** The last state of the row. */
        advisory: json<unknown>().notNull(),
        /** The rows of its events. */
        events: json<unknown[]>().notNull(),
      },
      (t) => [
        index("deleted_advisories_name").on(t.parent, t.name, t.deleteTime),
        index("deleted_advisories_changed").on(organizationOf(t.parent), t.changeTime, t.uid),
      ],
    ),

    /** Imported records: one row per document and vulnerability. */
    advisoryRecords: table(
      "advisory_records",
      {
        /** Ascending, because records of one import should be stored together: they are large. */
        id: sequence(),
        parent: text().notNull().references(groupUid),
        source: text().notNull(),
        document: text().notNull(),
        vulnerability: text().notNull(),
        format: integer().notNull(),
        digest: text().notNull(),
        /** When the source published, changed and withdrew it; null if it did not, or does not say. */
        publishTime: integer(),
        modifyTime: integer(),
        withdrawTime: integer(),
        /** The nanoseconds of `modifyTime` beyond milliseconds. */
        modifyNanos: integer().notNull(),
        revision: integer().notNull(),
        /** When the record was first imported, and when this version was. */
        createTime: integer().notNull(),
        updateTime: integer().notNull(),
        /** The advisories that the record is about. */
        advisoryUids: json<string[]>().notNull(),
        /** The length of the record in characters. */
        size: integer().notNull(),
        /** The protobuf JSON of the whole record. */
        record: json<unknown>().notNull(),
      },
      (t) => [uniqueIndex("advisory_records_key").on(t.parent, t.source, t.document, t.vulnerability)],
    ),

    /** Links from advisories to their records. */
    advisoryRecordLinks: table(
      "advisory_record_links",
      { advisoryUid: text().notNull(), recordId: integer().notNull() },
      (t) => [primaryKey({ columns: [t.advisoryUid, t.recordId] })],
    ),

    /** Documents whose records were imported completely, with the version. */
    completeDocuments: table(
      "complete_documents",
      {
        parent: text().notNull().references(groupUid),
        source: text().notNull(),
        document: text().notNull(),
        modifyTime: integer().notNull(),
        modifyNanos: integer().notNull(),
        revision: integer().notNull(),
      },
      (t) => [primaryKey({ columns: [t.parent, t.source, t.document] })],
    ),

    /** The export state of each group, which changes with its exports. */
    exportStates: table("export_states", {
      groupUid: text().primaryKey(),
      state: text().notNull(),
      changeTime: integer().notNull(),
    }),

    /** The events of advisories. */
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
        /** The number of the type in EventTypeFilter; 9 for componentLocationChanged, which v2 does not have. */
        type: integer().notNull(),
        /** The protobuf JSON of the event without its uid. */
        event: json<unknown>().notNull(),
        /** Whether it is derived from records. */
        derived: boolean().notNull().default(false),
      },
      (t) => [index("advisory_events_of").on(t.advisoryUid, t.createTime, t.uid)],
    ),
  };
}
