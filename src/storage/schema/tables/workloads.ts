import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Columns } from "../columns.postgres.ts";

/** The tokens that workloads presented, by identity. */
export function defineWorkloadTables(
  { table, text, integer, boolean, index, primaryKey }: Columns,
  identityUid: () => AnyPgColumn,
) {
  return {
    /** Not in the change log, so a token invalidates no cache. Times are those of exchanges with the last outcome. */
    seenTokens: table(
      "seen_tokens",
      {
        identityUid: text().notNull().references(identityUid, { onDelete: "cascade" }),
        /** SHA-256 of the stored claims and of where the token was presented. */
        digest: text().notNull(),
        /** The uid of the organization. */
        rootUid: text().notNull(),
        /** JSON with sorted names. PostgreSQL's type for JSON would write numbers differently. */
        claims: text().notNull(),
        /** The check that denied it; empty if it was accepted. */
        failedCheck: text().notNull(),
        /** Whether it was presented at the sign-in of the registry, where other audiences are accepted. */
        isRegistry: boolean().notNull(),
        count: integer().notNull(),
        firstTime: integer().notNull(),
        lastTime: integer().notNull(),
      },
      (t) => [
        primaryKey({ columns: [t.identityUid, t.digest] }),
        index("seen_tokens_root").on(t.rootUid, t.lastTime),
        index("seen_tokens_last_time").on(t.lastTime),
      ],
    ),
  };
}
