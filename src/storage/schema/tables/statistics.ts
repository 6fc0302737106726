import type { Columns } from "../columns.postgres.ts";

/** The counts of events in each group and below it, by day. */
export function defineStatisticsTables({ table, text, integer, index, primaryKey }: Columns) {
  return {
    /** Not in the change log, so a count invalidates no cache. Groups delete their rows; without a reference, a count locks no group. */
    dailyCounts: table(
      "daily_counts",
      {
        groupUid: text().notNull(),
        metric: text().notNull(),
        /** The beginning of the day in UTC. */
        day: integer().notNull(),
        count: integer().notNull(),
      },
      (t) => [
        primaryKey({ columns: [t.groupUid, t.metric, t.day] }),
        index("daily_counts_day").on(t.day, t.groupUid, t.metric),
      ],
    ),
  };
}
