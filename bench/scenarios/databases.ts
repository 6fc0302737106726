// The same requests to Gatehouse on SQLite and on PostgreSQL, and transactions of pgbench.
import { onceLoaded } from "../../src/base/lazy.ts";
import { copyData, type Data } from "../data.ts";
import { type Gatehouse, startGatehouse } from "../gatehouse.ts";
import { createGroups, getGroupGrpc, getGroups, listGroups } from "../groups-load.ts";
import type { LoadResult } from "../load-output.ts";
import { loadPgbench, type Postgres } from "../postgres.ts";
import { copyDatabase, databaseOf } from "../postgres-data.ts";
import type { Scenario } from "../scenario.ts";
import { sizeName } from "../sizes.ts";
import { scatteredUids } from "./reads.ts";

/** Clients of pgbench, as many as connections of the load on Gatehouse; and clients that read while others create. */
const clients = 32;
const readers = 4;

/** The same groups in a small and a large installation, and PostgreSQL with both. */
export interface DatabaseData {
  readonly small: Data;
  readonly large: Data;
  readonly postgres: Postgres;
}

/** Starts Gatehouse on both databases in both sizes. It ends with the stack. */
export async function databaseScenarios(data: DatabaseData, stack: AsyncDisposableStack): Promise<Scenario[]> {
  const { small, large, postgres } = data;
  const start = async (groups: Data, url?: string) => {
    const settings = url === undefined ? [] : ["--database-url", url];
    return stack.use(await startGatehouse(stack.use(copyData(groups, url === undefined)), [], undefined, settings));
  };
  const onSqlite = await start(small);
  const onPostgres = await start(small, await copyDatabase(postgres, small, "written"));
  const [largeOnSqlite, largeOnPostgres] = [
    stack.use(await startGatehouse(large, [])),
    await start(large, postgres.url(databaseOf(large))),
  ];
  // Creations leave work behind that would slow reads on the same server, so reads get a server of their own.
  const unwritten = await start(small, postgres.url(databaseOf(small)));
  const select = pgbench(postgres, "--select-only", "one resource, by rate");
  const update = pgbench(postgres, "--skip-some-updates", "creations, by rate");
  const scattered = onceLoaded(() => scatteredUids(largeOnPostgres));
  return [
    ...onBoth("GetGroup REST", getGroups, onSqlite, onPostgres),
    ...onBoth("GetGroup gRPC", (server) => getGroupGrpc(server), onSqlite, onPostgres),
    ...onBoth("list of 50 by name REST", listGroups, onSqlite, onPostgres),
    ...onBoth("CreateGroup REST", createGroups, onSqlite, onPostgres),
    ...bySize("SQLite", onSqlite, largeOnSqlite),
    ...bySize("PostgreSQL", onPostgres, largeOnPostgres),
    select,
    byRate("GetGroup REST, PostgreSQL, by rate", onPostgres, select, getGroups(onPostgres)),
    byRate(
      `GetGroup, scattered REST ${sizeName(large.landmarks.groups)}, PostgreSQL, by rate`,
      largeOnPostgres,
      select,
      async (seconds) => await getGroups(largeOnPostgres, {}, await scattered())(seconds),
    ),
    update,
    byRate("CreateGroup REST, PostgreSQL, by rate", onPostgres, update, createGroups(onPostgres)),
    ...readsDuringWrites(unwritten, onPostgres),
  ];
}

type Load = Scenario["load"];

/** CPU time of the server on PostgreSQL against SQLite. */
function onBoth(
  name: string,
  loadOf: (server: Gatehouse) => Load,
  onSqlite: Gatehouse,
  onPostgres: Gatehouse,
): Scenario[] {
  const baseline = `${name}, SQLite`;
  return [
    { name: baseline, server: onSqlite, comparison: name, load: loadOf(onSqlite) },
    { name: `${name}, PostgreSQL`, server: onPostgres, comparison: name, baseline, load: loadOf(onPostgres) },
  ];
}

/** CPU time of a list in the large installation against the small one. */
function bySize(database: string, small: Gatehouse, large: Gatehouse): Scenario[] {
  const nameOf = ({ landmarks }: Gatehouse) => `list of 50 by name REST ${sizeName(landmarks.groups)}, ${database}`;
  const [baseline, name] = [nameOf(small), nameOf(large)];
  const comparison = `lists by size, ${database}`;
  return [
    { name: baseline, server: small, comparison, load: listGroups(small) },
    { name, server: large, comparison, baseline, load: listGroups(large) },
  ];
}

/** Requests per second against transactions of pgbench. */
function byRate(name: string, server: Gatehouse, { name: baseline, comparison }: Scenario, load: Load): Scenario {
  return { name, server, comparison, baseline, gauge: "rate", load };
}

/** Returns the median latency of reads while another 32 clients create groups, against reads alone. */
function readsDuringWrites(unwritten: Gatehouse, written: Gatehouse): Scenario[] {
  const name = `GetGroup REST, ${readers} clients, PostgreSQL`;
  const comparison = "reads during writes";
  const read = getGroups(written, { connections: readers });
  // In the background: time that one generator waits for the other would count as the server's.
  const create = createGroups(written, { isBackground: true });
  return [
    { name, server: unwritten, comparison, load: getGroups(unwritten, { connections: readers }) },
    {
      name: `GetGroup REST, ${readers} clients, ${clients} create, PostgreSQL`,
      server: written,
      comparison,
      baseline: name,
      gauge: "p50",
      alone: false,
      load: (seconds) => together(read(seconds), create(seconds)),
    },
  ];
}

/** Returns the result of a load, with the failures of another one at the same time. */
async function together(measured: Promise<LoadResult>, other: Promise<LoadResult>): Promise<LoadResult> {
  const [own, { failed }] = await Promise.all([measured, other]);
  return { ...own, failed: own.failed + failed };
}

function pgbench(postgres: Postgres, script: "--select-only" | "--skip-some-updates", comparison: string): Scenario {
  const url = postgres.url("pgbench");
  return {
    name: `pgbench ${script}`,
    server: postgres,
    comparison,
    // Its processes have the CPU time, and not the one that starts them.
    alone: false,
    load: (seconds) => loadPgbench(url, script, clients, seconds),
  };
}
