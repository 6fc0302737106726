// `npm run suites -- history`: random calls against real servers under faults, and a check that every response has an
// explanation. Then the same with planted faults, which the check must find. Exits with 1 otherwise.
import { parseArgs } from "node:util";
import { debianPostgres } from "../harness/debian-postgres.ts";
import { plantedFaultNames } from "./planted-faults.ts";
import { type RunOptions, runHistory } from "./run-history.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: String(1 + Math.floor(Math.random() * 1_000_000)) },
    only: { type: "string" },
    show: { type: "boolean" },
    workers: { type: "string", default: "1" },
  },
});

/** How long the run on SQLite takes at most, in seconds. It has fewer faults. */
const sqliteSeconds = 30;

/** How long a run with a planted fault takes at most, in seconds. */
const plantedSeconds = 30;

/** How often a planted fault is looked for. */
const maxAttempts = 3;

/** How many violations of a run are printed. */
const maxPrinted = 5;

const seconds = positive("seconds", values.seconds);
const seed = positive("seed", values.seed);
const workers = positive("workers", values.workers);
const plantedRun = { database: "postgres", seconds: Math.min(seconds, plantedSeconds) } as const;
const runs: Readonly<Record<string, Omit<RunOptions, "seed" | "workers">>> = {
  postgres: { database: "postgres", seconds, planted: undefined },
  failover: { database: "postgres", failover: "synchronous", seconds, planted: undefined },
  sqlite: { database: "sqlite", seconds: Math.min(seconds, sqliteSeconds), planted: undefined },
  // Acknowledged writes that the standby does not have are lost with the primary.
  "asynchronous-standby": { ...plantedRun, failover: "asynchronous", planted: undefined },
  ...Object.fromEntries(plantedFaultNames.map((planted) => [planted, { ...plantedRun, planted }])),
};
if (values.only !== undefined && !(values.only in runs))
  fail(`--only: ${JSON.stringify(values.only)} is not a run; the runs are ${Object.keys(runs).join(", ")}`);

for (const [name, options] of Object.entries(runs)) {
  if (values.only !== undefined && values.only !== name) continue;
  if (options.failover && debianPostgres === undefined) {
    console.log(`${name} is skipped: it needs a program that is not here: apt-get install postgresql`);
    continue;
  }
  const isPlanted = options.planted !== undefined || options.failover === "asynchronous";
  const isRight = !isPlanted ? await explainsAll(name, options) : await findsFault(name, options);
  if (!isRight) process.exitCode = 1;
}

/** Runs without a planted fault. Prints the violations. */
async function explainsAll(name: string, options: Omit<RunOptions, "seed" | "workers">): Promise<boolean> {
  const violations = await violationsOf(name, { ...options, seed, workers });
  console.log(violations.length === 0 ? "  every response is explained" : `  ${violations.length} violations`);
  print(violations);
  return violations.length === 0;
}

/** Runs with a planted fault. A busy machine makes few calls, so there are several attempts. */
async function findsFault(name: string, options: Omit<RunOptions, "seed" | "workers">): Promise<boolean> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const violations = await violationsOf(name, { ...options, seed: seed + attempt, workers });
    if (values.show) print(violations);
    if (violations.length > 0) {
      console.log(`  found, as it must be: ${violations.length} violations`);
      return true;
    }
    console.log("  the planted fault was not found");
  }
  return false;
}

async function violationsOf(name: string, options: RunOptions): Promise<readonly string[]> {
  console.log(`${name}: ${options.seconds} s, --seed ${options.seed}`);
  const { violations, observations, codes, faults, mirrored } = await runHistory(options);
  console.log(`  responses: ${describe(codes)}`);
  console.log(`  faults: ${describe(faults)}`);
  console.log(`  ${observations} observations`);
  console.log(`  ${mirrored.changes} changes by ${mirrored.streams} streams to mirrors`);
  return violations;
}

function print(violations: readonly string[]): void {
  for (const violation of violations.slice(0, maxPrinted)) console.log(violation);
}

function describe(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
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
