// The files of the monitoring that are made from others.
import { readFileSync } from "node:fs";
import { chartFolder } from "./chart.ts";
import { dashboards } from "./dashboards/dashboards.ts";

export const alertsFile = "deploy/prometheus/alerts.yml";

/** Returns the content of each file by its path. */
export function monitoringFiles(): Readonly<Record<string, string>> {
  const made = Object.entries(dashboards());
  return Object.fromEntries([
    ...made.map(([name, content]) => [`deploy/grafana/${name}`, content]),
    ...made.map(([name, content]) => [`${chartFolder}/files/${name}`, content]),
    [`${chartFolder}/files/alerts.yml`, readFileSync(alertsFile, "utf8")],
  ]);
}
