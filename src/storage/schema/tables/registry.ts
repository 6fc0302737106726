import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Columns } from "../columns.postgres.ts";
import { entriesTable } from "./entries.ts";

/** Repos, tags, readmes, manifests and registry notifications. Long, because it only declares. */
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
      /** Derived from the name; lists filter by these columns. */
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

    /** The digests of tags: one row each time that a tag was set to another digest. */
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

    /** Readmes, in a table of their own: lists need not read them. */
    readmes: table("readmes", {
      repoUid: text()
        .primaryKey()
        .references(() => repos.uid),
      content: text().notNull(),
    }),

    /** Images: one row per architecture of a manifest or of an image index. */
    manifests: table(
      "manifests",
      {
        repoUid: text()
          .notNull()
          .references(() => repos.uid),
        digest: text().notNull(),
        architecture: text().notNull(),
        /** The size of the layers and the configuration, in bytes. */
        size: integer().notNull(),
      },
      (t) => [primaryKey({ columns: [t.repoUid, t.digest, t.architecture] })],
    ),

    /**
     * Processed notifications of registries. With them, a repeated notification changes nothing and a late one does not
     * overwrite newer data.
     */
    registryEvents: table(
      "registry_events",
      {
        /** SHA-256 in hexadecimal, of the source and id of an event, or of a tag or digest. */
        id: text().primaryKey(),
        /** When the event was processed, or the time of the latest event about the tag or digest. */
        time: integer().notNull(),
      },
      (t) => [index("registry_events_time").on(t.time)],
    ),
  };
}
