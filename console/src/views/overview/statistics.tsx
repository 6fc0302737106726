// Charts of the last 30 days, and of open advisories by severity.
import { Link } from "@tanstack/react-router";
import { ActivityChart, useStatistics } from "../../shell/activity-chart.tsx";
import { PartBar } from "../../shell/chart.tsx";
import { useTexts } from "../../texts/texts.ts";
import styles from "./overview.module.css";

const severities = {
  advisories_open_critical: "critical",
  advisories_open_high: "high",
  advisories_open_medium: "medium",
  advisories_open_low: "low",
} as const;

/** The charts that the caller may see. */
export function Statistics({ org }: { readonly org: string }) {
  return (
    <div className={styles.charts}>
      <ActivityChart group={org} chart="activity" />
      <OpenAdvisories org={org} />
    </div>
  );
}

function OpenAdvisories({ org }: { readonly org: string }) {
  const { t } = useTexts();
  const data = useStatistics(org, Object.keys(severities));
  const open = (data?.metrics ?? []).map(({ metric, counts }) => ({
    title: t(`statistics.${metric as keyof typeof severities}`),
    color: severities[metric as keyof typeof severities],
    counts: counts.map(Number),
  }));
  // Open advisories are counted every hour: before the first time there is nothing to show.
  if (!open.some(({ counts }) => counts.some((count) => count > 0))) return null;
  return (
    <section className="card stack" aria-labelledby="open-advisories">
      <div className="row">
        <h2 id="open-advisories">{t("statistics.open")}</h2>
        <div className="grow" />
        <Link to="/o/$org/advisories/$" params={{ org, _splat: "" }}>
          {t("statistics.all")}
        </Link>
      </div>
      <PartBar label={t("statistics.open")} series={open} />
    </section>
  );
}
