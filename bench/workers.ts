// The suite `workers`: one server with every core next to one process, with the load on the same cores.
import { type DataStore, prepareData } from "./data.ts";
import type { Options } from "./options.ts";
import { startFilledPostgres } from "./postgres-data.ts";
import { machine, type Results } from "./results.ts";
import { measure } from "./rounds.ts";
import { choose } from "./scenario.ts";
import { workerScenarios } from "./scenarios/workers.ts";
import { takeSlice } from "./slice.ts";
import { requirePostgres } from "./tools.ts";

/** Measures the smallest size on both databases. */
export async function measureWorkers(
  options: Options,
  searchPath: string,
  report: (text: string) => void,
): Promise<Results> {
  requirePostgres(searchPath);
  const store: DataStore = { directory: options.dataDir, report };
  const data = await prepareData(options.sizes[0]!, store);
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await startFilledPostgres([data], store, "all"));
  const scenarios = await workerScenarios(data, postgres, stack);
  const rows = await measure(choose(scenarios, options), options.extent, takeSlice, report);
  return { ...machine(), scenarios: rows, processes: [], parts: {} };
}
