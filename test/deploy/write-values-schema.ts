// Writes the schema of the chart's values: `npx node test/deploy/write-values-schema.ts`, after a change of the settings.
import { writeFileSync } from "node:fs";
import { chartFolder } from "./chart.ts";
import { valuesSchema } from "./values-schema.ts";

writeFileSync(`${chartFolder}/values.schema.json`, valuesSchema());
