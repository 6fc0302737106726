// `npm run test:history`: random calls against real servers under faults, and a check that every response has an
// explanation. Then the same with planted faults, which the check must find. Exits with 1 otherwise.
import { parseArgs } from "node:util";
import { plantedFaultNames } from "./planted-faults.ts";
import { type RunOptions, runHistory } from "./run-history.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: String(1 + Math.floor(Math.random() * 1_000_000)) },
    only: { type: "string" },
    show: { type: "boolean" },
  },
});

/** How long a run with a planted fault takes at most, in seconds. */
const plantedSeconds = 30;

/** How many violations of a run are printed. */
const maxPrinted = 5;

const seconds = positive("seconds", values.seconds);
const seed = positive("seed", values.seed);
const runs: Readonly<Record<string, Omit<RunOptions, "seed">>> = {
  postgres: { database: "postgres", seconds, planted: undefined },
  sqlite: { database: "sqlite", seconds: Math.ceil(seconds / 3), planted: undefined },
  ...Object.fromEntries(
    plantedFaultNames.map((planted) => [
      planted,
      { database: "postgres", seconds: Math.min(seconds, plantedSeconds), planted } as const,
    ]),
  ),
};
if (values.only !== undefined && !(values.only in runs))
  fail(`--only: ${JSON.stringify(values.only)} is not a run; the runs are ${Object.keys(runs).join(", ")}`);

for (const [name, options] of Object.entries(runs)) {
  if (values.only !== undefined && values.only !== name) continue;
  console.log(`${name}: ${options.seconds} s, --seed ${seed}`);
  const { violations, calls, observations, faults } = await runHistory({ ...options, seed });
  console.log(`  ${calls} calls, ${observations} observations; ${describe(faults)}`);
  const mustFail = options.planted !== undefined;
  if (violations.length > 0 === mustFail) {
    console.log(mustFail ? `  found, as it must be: ${violations.length} violations` : "  every response is explained");
    if (mustFail && values.show) console.log(violations.slice(0, maxPrinted).join("\n"));
    continue;
  }
  process.exitCode = 1;
  console.log(mustFail ? "  the planted fault was NOT found" : `  ${violations.length} violations`);
  if (!mustFail) for (const violation of violations.slice(0, maxPrinted)) console.log(violation);
}

function describe(faults: Readonly<Record<string, number>>): string {
  return Object.entries(faults)
    .map(([name, count]) => `${count} × ${name}`)
    .join(", ");
}

function positive(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) fail(`--${name}: must be a whole number from 1, not ${JSON.stringify(text)}`);
  return Number(text);
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
