// Charts of the last 30 days, and of open advisories by severity.
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { StatisticsService } from "../../../../gen/gatehouse/organizations/v1/statistics_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { type ChartColor, DayBars, PartBar, type Series, useFormats } from "../../shell/chart.tsx";
import { useTexts } from "../../texts/texts.ts";
import styles from "./overview.module.css";

const { queryStatistics } = StatisticsService.method;

const activity = { sign_ins: "sign-ins", access_changes: "changes", denials: "denied" } as const;
const severities = {
  advisories_open_critical: "critical",
  advisories_open_high: "high",
  advisories_open_medium: "medium",
  advisories_open_low: "low",
} as const;

/** The counts are not in the change log, which views follow otherwise. */
const refetchInterval = 60_000;

/** The charts. Metrics that the caller may not see are left out. */
export function Statistics({ org }: { readonly org: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const metrics = [...Object.keys(activity), ...Object.keys(severities)];
  const isEnabled = may(me, queryStatistics, org);
  const { data } = useQuery(queryStatistics, { group: org, metrics }, { enabled: isEnabled, refetchInterval });
  const { dayText } = useFormats();
  if (!data) return null;
  // Zeros before this day say nothing.
  const since = data.metrics.find(({ partialSince }) => partialSince !== "")?.partialSince ?? "";
  const seriesOf = (colors: Readonly<Record<string, ChartColor>>): Series[] =>
    data.metrics
      .filter(({ metric }) => Object.hasOwn(colors, metric))
      .map(({ metric, counts }) => ({
        title: t(`statistics.${metric as keyof typeof activity | keyof typeof severities}`),
        color: colors[metric]!,
        counts: counts.map(Number),
      }));
  const happened = seriesOf(activity);
  // Open advisories are counted every hour: before the first time there is nothing to show.
  const open = seriesOf(severities).filter((_, __, all) => all.some(({ counts }) => counts.some((count) => count > 0)));
  return (
    <div className={styles.charts}>
      {happened.length > 0 && (
        <section className="card stack" aria-labelledby="activity">
          <h2 id="activity">{t("statistics.activity")}</h2>
          <DayBars label={t("statistics.activity")} days={data.days} series={happened} />
          {since !== "" && <p className="muted small">{t("statistics.since", { day: dayText(since) })}</p>}
        </section>
      )}
      {open.length > 0 && (
        <section className="card stack" aria-labelledby="open-advisories">
          <div className="row">
            <h2 id="open-advisories">{t("statistics.open")}</h2>
            <div className="grow" />
            <Link to="/o/$org/advisories/$" params={{ org, _splat: "" }}>
              {t("statistics.all")}
            </Link>
          </div>
          <PartBar series={open} />
        </section>
      )}
    </div>
  );
}
