import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Columns } from "../columns.postgres.ts";

/** Who used images and tags. Not in the change log, so a use invalidates no cache. */
export function defineImageUseTables(
  { table, text, integer, index, primaryKey }: Columns,
  repoUid: () => AnyPgColumn,
  tagUid: () => AnyPgColumn,
) {
  return {
    /** The uses of images: one row for each hour, actor and kind. */
    imageUses: table(
      "image_uses",
      {
        /** The number of the image. The sweeper deletes the uses of a deleted image. */
        image: integer().notNull(),
        /** Hours since the epoch. */
        hour: integer().notNull(),
        /** The uid of an identity, or the name of a user of the registry behind "user:"; empty if it is unknown. */
        actor: text().notNull(),
        /** A value of `UseKind`. */
        kind: integer().notNull(),
        count: integer().notNull(),
      },
      (t) => [primaryKey({ columns: [t.image, t.hour, t.actor, t.kind] }), index("image_uses_hour").on(t.hour)],
    ),

    /** When tags were used last. */
    tagUses: table(
      "tag_uses",
      {
        tagUid: text().notNull().references(tagUid, { onDelete: "cascade" }),
        /** A value of `UseKind`. */
        kind: integer().notNull(),
        /** Hours since the epoch. */
        hour: integer().notNull(),
      },
      (t) => [primaryKey({ columns: [t.tagUid, t.kind] }), index("tag_uses_hour").on(t.hour)],
    ),

    /** The kind of registry that sent the last notification about a repo: it decides since when uses are known. */
    repoRegistries: table("repo_registries", {
      repoUid: text().primaryKey().references(repoUid, { onDelete: "cascade" }),
      registry: text().notNull(),
    }),
  };
}
