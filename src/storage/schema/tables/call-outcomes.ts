import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Columns } from "../columns.postgres.ts";

/** The responses of calls that had an idempotency key. */
export function defineCallOutcomeTables(
  { table, text, integer, index, uniqueIndex, primaryKey }: Columns,
  groupUid: () => AnyPgColumn,
) {
  return {
    /** Not in the change log: an outcome invalidates no cache, and nobody lists it. */
    callOutcomes: table(
      "call_outcomes",
      {
        /** SHA-256 of caller and key. */
        keyDigest: text().notNull(),
        /** The organization that the call changed; null if it deleted it. */
        organization: text().references(groupUid, { onDelete: "cascade" }),
        /** SHA-256 of method and request. */
        requestDigest: text().notNull(),
        /** The response, encrypted with a key that is made from the idempotency key. */
        outcome: text().notNull(),
        expireTime: integer().notNull(),
      },
      // Digests are random: in their order, each new row would change a page of its own. In that of time, only their index does.
      (t) => [
        primaryKey({ columns: [t.expireTime, t.keyDigest] }),
        uniqueIndex("call_outcomes_key_digest").on(t.keyDigest),
        index("call_outcomes_organization").on(t.organization),
      ],
    ),
  };
}
