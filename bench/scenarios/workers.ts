// Reads and creates with a worker for each core, against one process. Servers, load generators and PostgreSQL share all cores.
import { copyData, type Data } from "../data.ts";
import { type Gatehouse, startProduction } from "../gatehouse.ts";
import { createGroups, getGroupGrpc, getGroups, listGroups } from "../groups-load.ts";
import type { Postgres } from "../postgres.ts";
import { copyDatabase } from "../postgres-data.ts";
import type { Scenario } from "../scenario.ts";

/** Starts a server with one process and one with `--workers auto` on each database. They end with the stack. */
export async function workerScenarios(
  data: Data,
  postgres: Postgres,
  stack: AsyncDisposableStack,
): Promise<Scenario[]> {
  const start = async (workers: string, databaseUrl?: string) => {
    const copy = stack.use(copyData(data, databaseUrl === undefined));
    const options = { workers, cores: "all", ...(databaseUrl === undefined ? {} : { databaseUrl }) } as const;
    return stack.use(await startProduction(copy, options));
  };
  const [one, auto] = [await start("1"), await start("auto")];
  const [oneOnPostgres, autoOnPostgres] = [
    await start("1", await copyDatabase(postgres, data, "one_process")),
    await start("auto", await copyDatabase(postgres, data, "all_workers")),
  ];
  return [...pairsOf("SQLite", one, auto), ...pairsOf("PostgreSQL", oneOnPostgres, autoOnPostgres)];
}

function pairsOf(database: string, one: Gatehouse, auto: Gatehouse): Scenario[] {
  const cores = "all";
  return [
    ...pair(`GetGroup REST, ${database}`, (server) => getGroups(server, { cores }), one, auto),
    ...pair(`GetGroup gRPC, ${database}`, (server) => getGroupGrpc(server, cores), one, auto),
    ...pair(`list of 50 by name REST, ${database}`, (server) => listGroups(server, { cores }), one, auto),
    ...pair(`CreateGroup REST, 32 clients, ${database}`, (server) => createGroups(server, { cores }), one, auto),
  ];
}

function pair(
  name: string,
  loadOf: (server: Gatehouse) => Scenario["load"],
  one: Gatehouse,
  auto: Gatehouse,
): Scenario[] {
  const baseline = `${name}, one process`;
  return [
    { name: baseline, server: one, comparison: name, load: loadOf(one) },
    { name: `${name}, all cores`, server: auto, comparison: name, baseline, gauge: "rate", load: loadOf(auto) },
  ];
}
