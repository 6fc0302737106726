// Writes the dashboards, and copies them and the alerts into the chart, which can read no files outside of itself:
// `npx node test/deploy/write-monitoring.ts` and `npm run format`, after a change of test/deploy/dashboards or deploy/prometheus.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { monitoringFiles } from "./monitoring-files.ts";

for (const [file, content] of Object.entries(monitoringFiles())) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
}
