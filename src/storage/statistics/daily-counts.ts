// Stores how often something happened in each group and below it, by day. Not in the change log, so no cache is invalidated.
import type { SQL } from "drizzle-orm";
import { dayMs } from "../../base/clock.ts";
import { limitOf, numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, between, eq, lte, sql } from "../schema/drizzle.ts";

/** A count of one metric. */
export interface DailyCount {
  readonly groupUid: string;
  readonly metric: string;
  /** The beginning of the day in UTC, in milliseconds since the epoch. */
  readonly day: number;
  readonly count: number;
}

/** The place of a count among those of one day. */
type Place = Pick<DailyCount, "groupUid" | "metric">;

/** Adds to the counts of existing groups. Rows must be in the order of `compareCounts`: concurrent transactions then do not deadlock. */
export async function addDailyCounts(tx: Transaction, rows: readonly DailyCount[]): Promise<void> {
  await upsert(tx, "add", rows, (stored) => sql`${stored} + excluded.count`);
}

/** Sets the counts of existing groups, likewise in order. */
export async function setDailyCounts(tx: Transaction, rows: readonly DailyCount[]): Promise<void> {
  await upsert(tx, "set", rows, () => sql`excluded.count`);
}

async function upsert(
  tx: Transaction,
  name: string,
  rows: readonly DailyCount[],
  countOf: (stored: SQL) => SQL,
): Promise<void> {
  const statement = tx.prepared(`daily_counts.${name}`, (db, { dailyCounts, groups }) => {
    const [groupUid, metric] = [textPlaceholder("groupUid"), textPlaceholder("metric")];
    const values = sql.join([groupUid, metric, numberPlaceholder("day"), numberPlaceholder("count")], sql`, `);
    return (
      db
        .insert(dailyCounts)
        // Calls may name groups that do not exist, or that were deleted since.
        .select(sql`select ${values} from ${groups} where ${groups.uid} = ${groupUid}`)
        .onConflictDoUpdate({
          target: [dailyCounts.groupUid, dailyCounts.metric, dailyCounts.day],
          set: { count: countOf(sql`${dailyCounts.count}`) },
        })
    );
  });
  if (tx.isRemote) await Promise.all(rows.map((row) => statement.execute({ ...row })));
  else for (const row of rows) await statement.execute({ ...row });
}

/** Compares counts by their key. */
export function compareCounts(a: DailyCount, b: DailyCount): number {
  return compare(a.groupUid, b.groupUid) || compare(a.metric, b.metric) || a.day - b.day;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The counts of one metric: item i is that of i days after the first one, and absent without a row. */
export type CountsByDay = readonly (number | undefined)[];

/**
 * Returns the counts of one group between two days inclusive, by metric: one range of the primary key for each. A metric is one row, since
 * a driver needs more time for 400 rows than the database for their text.
 */
export async function findDailyCounts(
  session: Session,
  { metrics, ...range }: { groupUid: string; metrics: readonly string[]; from: number; to: number },
): Promise<ReadonlyMap<string, CountsByDay>> {
  const statement = session.prepared("daily_counts.of_group", (db, { dailyCounts }) => {
    const { groupUid, metric, day, count } = dailyCounts;
    const time = sql`(${day} - ${numberPlaceholder("from")})`;
    return db
      .select({ metric, counts: sql<string>`string_agg(${time} || ',' || ${count}, ',')` })
      .from(dailyCounts)
      .where(
        and(
          eq(groupUid, textPlaceholder("groupUid")),
          session.isAmong(metric, textPlaceholder("metrics")),
          between(day, numberPlaceholder("from"), numberPlaceholder("to")),
        ),
      )
      .groupBy(metric);
  });
  const rows = await statement.execute({ ...range, metrics: JSON.stringify(metrics) });
  return new Map(rows.map(({ metric, counts }) => [metric, parseCounts(counts)]));
}

/** Parses times and counts in turn: of `0,5,172800000,7`, returns 5, nothing and 7. */
function parseCounts(text: string): CountsByDay {
  const numbers: readonly number[] = JSON.parse(`[${text}]`);
  const counts: number[] = [];
  for (let i = 0; i < numbers.length; i += 2) counts[numbers[i]! / dayMs] = numbers[i + 1]!;
  return counts;
}

/** Returns up to `limit` counts of one day after a key, in the order of `compareCounts`. */
export async function findCountsOfDay(
  session: Session,
  { day: of, metrics, after, limit }: { day: number; metrics: readonly string[]; after: Place; limit: number },
): Promise<DailyCount[]> {
  const statement = session.prepared("daily_counts.of_day", (db, { dailyCounts }) => {
    const { groupUid, metric, day } = dailyCounts;
    const behind = sql`(${textPlaceholder("groupUid")}, ${textPlaceholder("metric")})`;
    return db
      .select()
      .from(dailyCounts)
      .where(
        and(
          eq(day, numberPlaceholder("day")),
          sql`(${groupUid}, ${metric}) > ${behind}`,
          session.isAmong(metric, textPlaceholder("metrics")),
        ),
      )
      .orderBy(asc(groupUid), asc(metric))
      .limit(limitOf("limit"));
  });
  return await statement.execute({ day: of, ...after, metrics: JSON.stringify(metrics), limit });
}

/** Deletes the counts of a group that is about to be deleted. Those of its ancestors stay. */
export async function clearDailyCounts(tx: Transaction, groupUid: string): Promise<void> {
  const statement = tx.prepared("daily_counts.clear", (db, { dailyCounts }) =>
    db.delete(dailyCounts).where(eq(dailyCounts.groupUid, sql.placeholder("groupUid"))),
  );
  await statement.execute({ groupUid });
}

/** Deletes counts of days that began at or before a time, up to `batchSize`. Returns whether none are left. */
export async function removeDailyCounts(tx: Transaction, time: number, batchSize: number): Promise<boolean> {
  const statement = tx.prepared("daily_counts.sweep", (db, { dailyCounts }) => {
    const { groupUid, metric, day } = dailyCounts;
    const key = sql`(${groupUid}, ${metric}, ${day})`;
    const old = db
      .select({ groupUid, metric, day })
      .from(dailyCounts)
      .where(lte(day, numberPlaceholder("time")))
      .orderBy(asc(day))
      .limit(limitOf("batchSize"));
    return db.delete(dailyCounts).where(sql`${key} in (${old})`).returning({ day });
  });
  return (await statement.execute({ time, batchSize })).length < batchSize;
}
