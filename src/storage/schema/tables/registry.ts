import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Columns } from "../columns.postgres.ts";
import { entriesTable } from "./entries.ts";

/** Repos, and what is in them. */
export function defineRegistryTables(columns: Columns, groupUid: () => AnyPgColumn) {
  const { table, text, integer, boolean, json, index, uniqueIndex, primaryKey } = columns;
  const entries = entriesTable(columns);

  const repos = table(
    "repos",
    {
      uid: text().primaryKey(),
      parent: text().notNull().references(groupUid),
      name: text().notNull(),
      description: text().notNull(),
      catalogTier: integer().notNull(),
      bundles: json<string[]>().notNull(),
      aliases: json<string[]>().notNull(),
      activeTags: json<string[]>().notNull(),
      createTime: integer().notNull(),
      updateTime: integer().notNull(),
    },
    (t) => [uniqueIndex("repos_once").on(t.parent, t.name), index("repos_parent").on(t.parent, t.uid)],
  );

  const tags = table(
    "tags",
    {
      uid: text().primaryKey(),
      /** The repo. */
      parent: text()
        .notNull()
        .references(() => repos.uid),
      name: text().notNull(),
      digest: text().notNull(),
      deprecated: boolean().notNull(),
      bundles: json<string[]>().notNull(),
      /** What the name says, by which lists leave tags out. */
      isReferrer: boolean().notNull(),
      isDate: boolean().notNull(),
      isEpoch: boolean().notNull(),
      createTime: integer().notNull(),
      updateTime: integer().notNull(),
    },
    (t) => [uniqueIndex("tags_once").on(t.parent, t.name), index("tags_parent").on(t.parent, t.uid)],
  );

  return {
    repos,
    repoEntries: entries("repo_entries"),
    tags,
    tagEntries: entries("tag_entries"),

    /** The digests that tags have had: one row for each time that a tag was set to another one. */
    tagHistory: table(
      "tag_history",
      {
        tagUid: text()
          .notNull()
          .references(() => tags.uid),
        time: integer().notNull(),
        digest: text().notNull(),
      },
      (t) => [primaryKey({ columns: [t.tagUid, t.time] })],
    ),

    /** The readmes of the repos that have one: apart, so that lists need not read them. */
    readmes: table("readmes", {
      repoUid: text()
        .primaryKey()
        .references(() => repos.uid),
      content: text().notNull(),
    }),

    /** What is known of images: one row for each architecture that a manifest, or an index of manifests, is for. */
    manifests: table(
      "manifests",
      {
        repoUid: text()
          .notNull()
          .references(() => repos.uid),
        digest: text().notNull(),
        architecture: text().notNull(),
        /** Of the layers and the configuration, in bytes. */
        size: integer().notNull(),
      },
      (t) => [primaryKey({ columns: [t.repoUid, t.digest, t.architecture] })],
    ),

    /** Notifications of registries that were dealt with, so that one that is repeated changes nothing, and one that is late little. */
    registryEvents: table(
      "registry_events",
      {
        /** SHA-256, in hexadecimal digits: of where the event is from and of its id there, or of a tag or digest. */
        id: text().primaryKey(),
        /** When the event was dealt with, or when the latest about the tag or digest happened. */
        time: integer().notNull(),
      },
      (t) => [index("registry_events_time").on(t.time)],
    ),
  };
}
