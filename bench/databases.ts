// `npm run bench -- --database postgres`: Gatehouse on PostgreSQL next to itself on SQLite, and to pgbench.
import { choose } from "./bench.ts";
import { type Options, UsageError } from "./options.ts";
import { preparePgbench, startPostgres } from "./postgres.ts";
import { machine, type Results } from "./results.ts";
import { measure } from "./rounds.ts";
import { databaseScenarios } from "./scenarios/databases.ts";
import { takeSlice } from "./slice.ts";
import { isInstalled } from "./tools.ts";

/** Measures both databases with the same groups, which are created through the API. */
export async function measureDatabases(
  options: Options,
  searchPath: string,
  report: (text: string) => void,
): Promise<Results> {
  if (!isInstalled("pgbench", searchPath))
    throw new UsageError("pgbench: not found; install by: apt-get install postgresql");
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await startPostgres());
  await preparePgbench(postgres);
  report("creating groups");
  const scenarios = await databaseScenarios(postgres, stack);
  const rows = await measure(choose([], scenarios, options.only), options, takeSlice, report);
  return { ...machine(), scenarios: rows, processes: [], parts: {} };
}
