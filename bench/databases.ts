// The suite `postgres`: Gatehouse on PostgreSQL next to itself on SQLite, and to pgbench.
import { type DataStore, prepareData } from "./data.ts";
import type { Options } from "./options.ts";
import { startFilledPostgres } from "./postgres-data.ts";
import { machine, type Results } from "./results.ts";
import { measure } from "./rounds.ts";
import { choose } from "./scenario.ts";
import { databaseScenarios } from "./scenarios/databases.ts";
import { takeSlice } from "./slice.ts";
import { requirePostgres } from "./tools.ts";

/** Measures both databases with the same groups, in the smallest and the largest size. */
export async function measureDatabases(
  options: Options,
  searchPath: string,
  report: (text: string) => void,
): Promise<Results> {
  requirePostgres(searchPath);
  const store: DataStore = { directory: options.dataDir, report };
  const small = await prepareData(options.sizes[0]!, store);
  const large = await prepareData(options.sizes.at(-1)!, store);
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await startFilledPostgres([small, large], store, "one"));
  const scenarios = await databaseScenarios({ small, large, postgres }, stack);
  const rows = await measure(choose(scenarios, options), options.extent, takeSlice, report);
  return { ...machine(), scenarios: rows, processes: [], parts: {} };
}
