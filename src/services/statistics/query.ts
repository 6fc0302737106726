// Reads a query for statistics.
import type { QueryStatisticsRequest } from "../../../gen/gatehouse/organizations/v1/statistics_pb.ts";
import { newViolations, type Violations } from "../../aip/violations.ts";
import { clip } from "../../base/clip.ts";
import { dayMs } from "../../base/clock.ts";
import { notOneOf } from "../../base/similar.ts";
import { parseDay } from "./days.ts";
import { statisticsLimits } from "./limits.ts";
import { isMetric, type MetricName, metrics } from "./metrics.ts";

/** Days, both inclusive. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

/** The days before the last one that a query without a first day has. */
const defaultDaysBefore = 29;

/** Returns the metrics and days of a query. Throws INVALID_ARGUMENT with all violations. */
export function readQuery(
  request: QueryStatisticsRequest,
  today: number,
): { readonly names: readonly MetricName[]; readonly range: DayRange } {
  const violations = newViolations();
  const names = readMetrics(request.metrics, violations);
  const to = readDay("end_day", request.endDay, today, violations);
  const from = readDay("start_day", request.startDay, to - defaultDaysBefore * dayMs, violations);
  if (from > to) violations.add("start_day", "must not be after end_day");
  const { keptDays } = statisticsLimits;
  if (to - from >= keptDays * dayMs) violations.add("start_day", `must be at most ${keptDays - 1} days before end_day`);
  violations.throwIfAny();
  return { names, range: { from, to } };
}

function readMetrics(names: readonly string[], violations: Violations): MetricName[] {
  const { metrics: most } = statisticsLimits;
  if (names.length === 0) violations.add("metrics", "metrics is required");
  if (names.length > most) violations.add("metrics", `must have at most ${most} items`);
  const known = new Set<string>();
  return names.slice(0, most).flatMap((name, i) => {
    if (!isMetric(name)) violations.add(`metrics[${i}]`, notOneOf(clip(name), Object.keys(metrics)));
    else if (known.has(name)) violations.add(`metrics[${i}]`, `repeats ${name}`);
    known.add(name);
    return isMetric(name) ? name : [];
  });
}

function readDay(field: string, text: string, otherwise: number, violations: Violations): number {
  const day = text === "" ? otherwise : parseDay(text);
  if (day === undefined) violations.add(field, "is not a day such as 2026-11-01");
  return day ?? otherwise;
}
