// Answers how often something happened at a group and below it.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type QueryStatisticsRequest,
  QueryStatisticsRequestSchema,
  type QueryStatisticsResponseSchema,
  StatisticsService,
  StatisticsStep,
} from "../../../gen/gatehouse/organizations/v1/statistics_pb.ts";
import { notFound } from "../../aip/errors.ts";
import { dayMs } from "../../base/clock.ts";
import { namesOfNumbers } from "../../model/capabilities.ts";
import { accessOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import { uidRule } from "../../pipeline/text-rules.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { findRow } from "../../storage/collection/rows.ts";
import { readSetting } from "../../storage/engine/settings.ts";
import { groupCollection } from "../../storage/iam/collections.ts";
import { type CountsByDay, findDailyCounts } from "../../storage/statistics/daily-counts.ts";
import { groupParents } from "../iam/groups/groups.ts";
import { dayOf, formatDay, stepsOf } from "./days.ts";
import { countedSinceSetting, statisticsLimits } from "./limits.ts";
import { type MetricName, metrics } from "./metrics.ts";
import { type DayRange, readQuery } from "./query.ts";

const noCounts: CountsByDay = [];

type Response = MessageInitShape<typeof QueryStatisticsResponseSchema>;

/** Serves statistics. */
export function statistics({ database, clock }: ServiceContext): Implementation {
  async function queryStatistics(request: QueryStatisticsRequest, call: Call): Promise<Response> {
    const today = dayOf(clock());
    const { names, range } = readQuery(request, today);
    const { group: groupUid } = request;
    const [shown, hidden] = partition(names, (name) => accessOf(call).has(metrics[name].capability, groupUid));
    return await database.read(async (session) => {
      if (!(await findRow(session, groupCollection, groupUid))) throw notFound(groupParents.type, groupUid);
      const since = Number((await readSetting(session, countedSinceSetting)) ?? 0);
      const found = await findDailyCounts(session, { groupUid, metrics: shown, ...range });
      const steps = stepsOf(range.from, range.to, request.step === StatisticsStep.WEEK);
      const firstKept = Math.max(dayOf(since), today - (statisticsLimits.keptDays - 1) * dayMs);
      const partialSince = firstKept > range.from ? formatDay(firstKept) : "";
      return {
        days: steps.map(formatDay),
        metrics: shown.map((metric) => {
          const counts = countsOf(metric, found.get(metric) ?? noCounts, steps, { ...range, today });
          return { metric, counts, partialSince };
        }),
        unavailableMetrics: hidden.map((metric) => {
          return { metric, missingCapability: namesOfNumbers([metrics[metric].capability])[0] ?? "" };
        }),
      };
    });
  }

  return implement(StatisticsService, { queryStatistics }, [
    {
      schema: QueryStatisticsRequestSchema,
      fields: { group: uidRule },
      bounds: { metrics: { maxItems: statisticsLimits.metrics } },
    },
  ]);
}

/** Returns one count for each step. */
function countsOf(
  metric: MetricName,
  counts: CountsByDay,
  steps: readonly number[],
  { from, to, today }: DayRange & { readonly today: number },
): bigint[] {
  const isLevel = metrics[metric].kind === "level";
  const daysAfter = (time: number) => (time - from) / dayMs;
  const ahead = daysAfter(today) + 1;
  let level = 0;
  return steps.map((first, i) => {
    const end = Math.min(daysAfter(steps[i + 1] ?? to + dayMs), ahead);
    let sum = 0;
    for (let day = daysAfter(first); day < end; day++) {
      const count = counts[day];
      // Without a row, a level is that of the day before.
      level = count ?? level;
      sum += count ?? 0;
    }
    return BigInt(isLevel ? (first <= today ? level : 0) : sum);
  });
}

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
