import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Columns } from "../columns.postgres.ts";

/** The last uses of access, by identity and group. */
export function defineUsageTables(
  { table, text, integer, index, primaryKey }: Columns,
  identityUid: () => AnyPgColumn,
  groupUid: () => AnyPgColumn,
) {
  return {
    /** Not in the change log, so a use invalidates no cache. */
    accessUsage: table(
      "access_usage",
      {
        identityUid: text().notNull().references(identityUid, { onDelete: "cascade" }),
        /** The group where the role that allowed a call takes effect. */
        groupUid: text().notNull().references(groupUid, { onDelete: "cascade" }),
        /** JSON: by the number of a capability, the last day of its use, in days since the epoch. */
        days: text().notNull(),
        /** The beginning of the last of the days, or `bindTime` if that is later, in milliseconds since the epoch. */
        lastTime: integer().notNull(),
        /** When a role binding of the identity at the group was changed or imported; 0 for never. It is older than it says then. */
        bindTime: integer().notNull(),
      },
      (t) => [
        primaryKey({ columns: [t.identityUid, t.groupUid] }),
        index("access_usage_group").on(t.groupUid),
        index("access_usage_last_time").on(t.lastTime),
      ],
    ),
  };
}
