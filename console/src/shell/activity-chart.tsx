// The chart of events of the last 30 days in a group and below it.
import { useQuery } from "@connectrpc/connect-query";
import { useId } from "react";
import { StatisticsService } from "../../../gen/gatehouse/organizations/v1/statistics_pb.ts";
import { may, useMe } from "../api/access.ts";
import { useTexts } from "../texts/texts.ts";
import { type ChartColor, DayBars, useFormats } from "./chart.tsx";

const { queryStatistics } = StatisticsService.method;

/** The counts are not in the change log, which views follow otherwise. */
const refetchInterval = 60_000;

/** The metrics of a chart, each with its colour. */
const charts = {
  activity: { sign_ins: "sign-ins", access_changes: "changes", denials: "denied" },
  sent: { deliveries: "sign-ins", deliveries_failed: "denied" },
} as const satisfies Readonly<Record<string, Readonly<Record<string, ChartColor>>>>;

type MetricOf<Chart> = Chart extends unknown ? keyof Chart : never;

/** Reads the counts of metrics of the last 30 days; undefined while they are read, and for callers who may not read any. */
export function useStatistics(group: string, metrics: readonly string[]) {
  const { data: me } = useMe();
  const isEnabled = may(me, queryStatistics, group);
  return useQuery(queryStatistics, { group, metrics: [...metrics] }, { enabled: isEnabled, refetchInterval }).data;
}

/** The card of a chart. Metrics that the caller may not see are left out; nothing if none is left. */
export function ActivityChart({ group, chart }: { readonly group: string; readonly chart: keyof typeof charts }) {
  const { t } = useTexts();
  const { dayText } = useFormats();
  const id = useId();
  const colors: Readonly<Record<string, ChartColor>> = charts[chart];
  const data = useStatistics(group, Object.keys(colors));
  if (!data?.metrics.length) return null;
  const series = data.metrics.map(({ metric, counts }) => ({
    title: t(`statistics.${metric as MetricOf<(typeof charts)[keyof typeof charts]>}`),
    color: colors[metric]!,
    counts: counts.map(Number),
  }));
  // Zeros before this day say nothing.
  const since = data.metrics.find(({ partialSince }) => partialSince !== "")?.partialSince ?? "";
  return (
    <section className="card stack" aria-labelledby={id}>
      <h2 id={id}>{t(`statistics.${chart}`)}</h2>
      <DayBars label={t(`statistics.${chart}`)} days={data.days} series={series} />
      {since !== "" && <p className="muted small">{t("statistics.since", { day: dayText(since) })}</p>}
    </section>
  );
}
