// Counts open advisories by severity, for each group and its ancestors. A level has a row on each day on which it is not zero, and
// a zero on the day on which it becomes zero: on a day without a row, the row before it holds.
import { EventTypeFilter } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { randomHex } from "../../base/random.ts";
import { measureWork, nextSlice } from "../../base/slices.ts";
import { ancestorsOf } from "../../model/uid.ts";
import type { Database } from "../../storage/database.ts";
import type { WriteContext } from "../../storage/engine/session.ts";
import { readSetting, writeSetting } from "../../storage/engine/settings.ts";
import { scanTable } from "../../storage/engine/table-scan.ts";
import { isLeaseFree, type Lease, takeLease } from "../../storage/installation/lease.ts";
import {
  compareCounts,
  type DailyCount,
  findCountsOfDay,
  setDailyCounts,
} from "../../storage/statistics/daily-counts.ts";
import { countBySeverity, type SeverityName } from "../../storage/vulnerabilities/open-advisories.ts";
import { dayOf } from "./days.ts";
import type { MetricName } from "./metrics.ts";

const severityMetrics: Readonly<Record<SeverityName, MetricName>> = {
  critical: "advisories_open_critical",
  high: "advisories_open_high",
  medium: "advisories_open_medium",
  low: "advisories_open_low",
};
const levelMetrics: readonly string[] = Object.values(severityMetrics);

/** The statuses in which the artifact is affected, or may be. */
const openStatuses: readonly EventTypeFilter[] = [
  EventTypeFilter.DETECTION,
  EventTypeFilter.TRUE_POSITIVE_DETERMINATION,
  EventTypeFilter.ANALYSIS_NOT_PLANNED,
  EventTypeFilter.FIX_NOT_PLANNED,
  EventTypeFilter.PENDING_UPSTREAM_FIX,
];

/** One process counts in this time. It keeps the lease to its end, so the time is also that between two counts. */
const lease: Lease = { name: "advisory_levels_lease", length: 60 * 60 * 1000 };

/** The day of the last count. */
const countedSetting = "advisory_levels_day";

const [pageSize, batchSize] = [500, 200];

type Counting = Pick<Database, "read" | "write" | "session">;

/** Stores the levels of this day, unless a process has counted within the last hour. Writes only what differs from the last count. */
export async function countAdvisoryLevels(
  database: Counting,
  newWrite: () => WriteContext,
  signal: AbortSignal,
): Promise<void> {
  const holder = randomHex(16);
  if (!(await isLeaseFree(database.session, lease, holder, newWrite().time))) return;
  if ((await database.write(newWrite(), (tx) => takeLease(tx, lease, holder))) === undefined) return;
  const day = dayOf(newWrite().time);
  const rows = await measureWork(signal, () => changedLevels(database, day));
  for (let i = 0; i < rows.length && !signal.aborted; i += batchSize)
    await database.write(newWrite(), (tx) => setDailyCounts(tx, rows.slice(i, i + batchSize)));
  // Else the next count begins where this one did.
  if (!signal.aborted) await database.write(newWrite(), (tx) => writeSetting(tx, countedSetting, String(day)));
}

/** Returns the levels of a day that are not stored yet, in the order of their keys. */
async function changedLevels(database: Counting, day: number): Promise<DailyCount[]> {
  const countedDay = Number((await readSetting(database.session, countedSetting)) ?? 0);
  const levels = await readLevels(database, day);
  const isStored = new Set<string>();
  for await (const page of storedLevels(database, countedDay)) {
    await nextSlice();
    for (const { groupUid, metric, count } of page) {
      const key = keyOf(groupUid, metric);
      const isSame = (levels.get(key)?.count ?? 0) === count;
      // A zero of an earlier day still holds.
      if (isSame && (countedDay === day || count === 0)) isStored.add(key);
      else if (!levels.has(key)) levels.set(key, { groupUid, metric, day, count: 0 });
    }
  }
  return [...levels].flatMap(([key, level]) => (isStored.has(key) ? [] : level)).sort(compareCounts);
}

/** Returns the levels of all groups with open advisories, and of their ancestors. */
async function readLevels(database: Counting, day: number): Promise<Map<string, DailyCount>> {
  const levels = new Map<string, DailyCount>();
  const add = (groupUid: string, metric: string, count: number) => {
    const key = keyOf(groupUid, metric);
    levels.set(key, { groupUid, metric, day, count: (levels.get(key)?.count ?? 0) + count });
  };
  const read = (after: string) =>
    database.read((session) => countBySeverity(session, openStatuses, { after, limit: pageSize }));
  for await (const page of scanTable(pageSize, "", read, ({ groupUid }) => groupUid)) {
    await nextSlice();
    for (const { groupUid, ...counts } of page)
      for (const [severity, metric] of Object.entries(severityMetrics))
        for (const uid of counts[severity as SeverityName] > 0 ? [...ancestorsOf(groupUid), groupUid] : [])
          add(uid, metric, counts[severity as SeverityName]);
  }
  return levels;
}

function storedLevels(database: Counting, day: number) {
  const about = { day, metrics: levelMetrics, limit: pageSize };
  const read = (after: Pick<DailyCount, "groupUid" | "metric">) =>
    database.read((session) => findCountsOfDay(session, { ...about, after }));
  return scanTable(pageSize, { groupUid: "", metric: "" }, read, ({ groupUid, metric }) => ({ groupUid, metric }));
}

function keyOf(groupUid: string, metric: string): string {
  return `${groupUid} ${metric}`;
}
