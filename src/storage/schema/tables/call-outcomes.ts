import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Columns } from "../columns.postgres.ts";

/** The responses of calls that had an idempotency key. */
export function defineCallOutcomeTables({ table, text, integer, index }: Columns, groupUid: () => AnyPgColumn) {
  return {
    /** Not in the change log: an outcome invalidates no cache, and nobody lists it. */
    callOutcomes: table(
      "call_outcomes",
      {
        /** SHA-256 of caller and key. */
        keyDigest: text().primaryKey(),
        /** The organization that the call changed; null if it deleted it. */
        organization: text().references(groupUid, { onDelete: "cascade" }),
        /** SHA-256 of method and request. */
        requestDigest: text().notNull(),
        /** The response, encrypted with a key that is made from the idempotency key. */
        outcome: text().notNull(),
        expireTime: integer().notNull(),
      },
      (t) => [
        index("call_outcomes_organization").on(t.organization),
        index("call_outcomes_expire_time").on(t.expireTime),
      ],
    ),
  };
}
