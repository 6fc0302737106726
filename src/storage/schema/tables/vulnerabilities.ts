import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Columns } from "../columns.postgres.ts";
import { organizationOf } from "../organization.ts";
import { entriesTable } from "./entries.ts";

/** Advisories with their events, and the records that they are derived from. */
export function defineVulnerabilityTables(columns: Columns, groupUid: () => AnyPgColumn) {
  const { table, text, integer, boolean, json, sequence, index, uniqueIndex, primaryKey } = columns;
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
      /** The aliases as one text, by which version 1 can order. */
      aliasText: text().notNull().default(""),
      /** When each author had changed what versions before records imported of them, until a record of theirs is stored. */
      sources: json<{ readonly author: string; readonly time: number }[]>().notNull().default([]),
      /** The identity of the product; empty where it is not known, as in advisories that were written with the API. */
      product: text().notNull().default(""),
      /** The keys by which queries for packages and commits find the advisory. */
      lookUpKeys: json<string[]>().notNull().default([]),
      createTime: integer().notNull(),
      updateTime: integer().notNull(),
    },
    (t) => [
      uniqueIndex("advisories_once").on(t.parent, t.name, t.product),
      index("advisories_parent").on(t.parent, t.uid),
    ],
  );

  return {
    advisories,
    advisoryEntries: entries("advisory_entries"),

    /**
     * What advisories can be found by: every value of every filter, so that a filter is one range of this table. Values come first:
     * an advisory often has one text for several filters, such as the name of a package, and then writes one page.
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

    /** What a query looks through, in lower case, one line each. Apart from the rows: a search reads all of it. */
    advisoryTexts: table("advisory_texts", { uid: text().primaryKey(), text: text().notNull() }),

    /** Advisories that were deleted or withdrawn. Nothing lists them, so they are no rows of the resource. */
    deletedAdvisories: table(
      "deleted_advisories",
      {
        uid: text().primaryKey(),
        parent: text().notNull().references(groupUid),
        name: text().notNull(),
        /** When it was deleted, or when its source withdrew it by the source's own clock. */
        deleteTime: integer().notNull(),
        /** When that became known here, by which followers of changes are told. */
        changeTime: integer().notNull().default(0),
        /** The row as it last was. */
        advisory: json<unknown>().notNull(),
        /** The rows of its events. */
        events: json<unknown[]>().notNull(),
      },
      (t) => [
        index("deleted_advisories_name").on(t.parent, t.name, t.deleteTime),
        index("deleted_advisories_changed").on(organizationOf(t.parent), t.changeTime, t.uid),
      ],
    ),

    /** What documents of sources say, one row for each document and vulnerability. */
    advisoryRecords: table(
      "advisory_records",
      {
        /** Ascending, since a record is large: those that are imported together are stored together. */
        id: sequence(),
        parent: text().notNull().references(groupUid),
        source: text().notNull(),
        document: text().notNull(),
        vulnerability: text().notNull(),
        format: integer().notNull(),
        digest: text().notNull(),
        /** When the source published, changed and withdrew it; null where the source does not say, or did not. */
        publishTime: integer(),
        modifyTime: integer(),
        withdrawTime: integer(),
        /** The nanoseconds behind the milliseconds of the time when the source changed it. */
        modifyNanos: integer().notNull(),
        revision: integer().notNull(),
        /** When the record was imported first, and when this copy of it was. */
        createTime: integer().notNull(),
        updateTime: integer().notNull(),
        /** The advisories that the record speaks of. */
        advisoryUids: json<string[]>().notNull(),
        /** How many characters the record has. */
        size: integer().notNull(),
        /** The protobuf JSON of the whole record. */
        record: json<unknown>().notNull(),
      },
      (t) => [uniqueIndex("advisory_records_key").on(t.parent, t.source, t.document, t.vulnerability)],
    ),

    /** Which records speak of an advisory, so that they are found without reading others. */
    advisoryRecordLinks: table(
      "advisory_record_links",
      { advisoryUid: text().notNull(), recordId: integer().notNull() },
      (t) => [primaryKey({ columns: [t.advisoryUid, t.recordId] })],
    ),

    /** Documents of which all records of a version were imported. */
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

    /** By group, a text that is another one after each change of what the group exports. */
    exportStates: table("export_states", {
      groupUid: text().primaryKey(),
      state: text().notNull(),
      changeTime: integer().notNull(),
    }),

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
        /** The number of the type in EventTypeFilter; 9 for componentLocationChanged, which version 2 does not know. */
        type: integer().notNull(),
        /** The protobuf JSON of the whole event but its uid. */
        event: json<unknown>().notNull(),
        /** Whether it follows from records. */
        derived: boolean().notNull().default(false),
      },
      (t) => [index("advisory_events_of").on(t.advisoryUid, t.createTime, t.uid)],
    ),
  };
}
