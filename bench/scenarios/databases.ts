// The same requests to Gatehouse on SQLite and on PostgreSQL, and transactions of pgbench.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { GetGroupRequestSchema } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { type Gatehouse, startGatehouse } from "../gatehouse.ts";
import { frameOf, grpcHeaders } from "../grpc-frame.ts";
import { type Http1Load, loadHttp1, loadHttp2 } from "../load.ts";
import type { LoadResult } from "../load-output.ts";
import type { Landmarks } from "../population.ts";
import { loadPgbench, type Postgres } from "../postgres.ts";
import type { Scenario } from "../scenario.ts";
import { groupsPath, http1Connections } from "./raw.ts";

const groupsResource = "/iam/v2beta1/groups";
/** Groups of the team that is read, and how many requests create them at once. */
const teamSize = 1000;
const creators = 32;

/** A Gatehouse, the uids that are read, and the empty group for what is created. */
type Filled = Gatehouse & { readonly landmarks: Pick<Landmarks, "sampleUids" | "teamUid" | "emptyUid"> };

/** Starts Gatehouse on both databases, creates the same groups, and returns what is measured. It ends with the stack. */
export async function databaseScenarios(postgres: Postgres, stack: AsyncDisposableStack): Promise<Scenario[]> {
  await postgres.query("CREATE DATABASE gatehouse");
  const onSqlite = await startFilled(stack, []);
  const onPostgres = await startFilled(stack, ["--database-url", postgres.url("gatehouse")]);
  const select = pgbench(postgres, "--select-only", "one resource, by rate");
  const update = pgbench(postgres, "--skip-some-updates", "creations, by rate");
  return [
    ...onBoth("GetGroup REST", getGroup, onSqlite, onPostgres),
    ...onBoth("GetGroup gRPC", getGroupGrpc, onSqlite, onPostgres),
    ...onBoth("list of 50 by name REST", listGroups, onSqlite, onPostgres),
    ...onBoth("CreateGroup REST", createGroup, onSqlite, onPostgres),
    select,
    byRate("GetGroup REST", getGroup, onPostgres, select),
    update,
    byRate("CreateGroup REST", createGroup, onPostgres, update),
  ];
}

type LoadOf = (server: Filled) => (seconds: number) => Promise<LoadResult>;

/** CPU time of the server on PostgreSQL against SQLite. */
function onBoth(name: string, loadOf: LoadOf, onSqlite: Filled, onPostgres: Filled): Scenario[] {
  const baseline = `${name}, SQLite`;
  return [
    { name: baseline, server: onSqlite, comparison: name, load: loadOf(onSqlite) },
    { name: `${name}, PostgreSQL`, server: onPostgres, comparison: name, baseline, load: loadOf(onPostgres) },
  ];
}

/** Requests per second against transactions of pgbench. */
function byRate(name: string, loadOf: LoadOf, server: Filled, { name: baseline, comparison }: Scenario): Scenario {
  const compared = { comparison, baseline, gauge: "rate" } as const;
  return { name: `${name}, PostgreSQL, by rate`, server, ...compared, load: loadOf(server) };
}

function pgbench(postgres: Postgres, script: "--select-only" | "--skip-some-updates", comparison: string): Scenario {
  return {
    name: `pgbench ${script}`,
    server: postgres,
    comparison,
    // Its processes have the CPU time, and not the one that starts them.
    alone: false,
    load: (seconds) => loadPgbench(postgres, script, creators, seconds),
  };
}

const http1 = ({ port, authorization }: Filled, requests: Http1Load["requests"]) => {
  const headers = { authorization, "content-type": "application/json" };
  const load = { port, connections: http1Connections, headers, requests };
  return (seconds: number) => loadHttp1(load, seconds);
};

const getGroup: LoadOf = (server) =>
  http1(
    server,
    server.landmarks.sampleUids.map((uid) => ({ method: "GET", path: `${groupsResource}/${uid}` })),
  );

const getGroupGrpc: LoadOf = ({ port, authorization, landmarks }) => {
  const body = frameOf(GetGroupRequestSchema, { uid: landmarks.sampleUids[0]! });
  const load = { port, headers: { ...grpcHeaders, authorization }, path: `${groupsPath}/GetGroup`, body };
  return (seconds) => loadHttp2(load, seconds);
};

const listGroups: LoadOf = (server) => {
  const query = `pageSize=50&orderBy=name&uidp.descendants_of=${server.landmarks.teamUid}`;
  return http1(server, [{ method: "GET", path: `${groupsResource}?${query}` }]);
};

const createGroup: LoadOf = (server) => {
  const body = JSON.stringify({ name: "made by the benchmark", description: "One of many" });
  return http1(server, [{ method: "POST", path: `${groupsResource}/${server.landmarks.emptyUid}`, body }]);
};

async function startFilled(stack: AsyncDisposableStack, settings: readonly string[]): Promise<Filled> {
  const directory = mkdtempSync(path.join(tmpdir(), "gatehouse-bench-database-"));
  stack.defer(() => rmSync(directory, { recursive: true }));
  const server = stack.use(await startGatehouse({ directory, landmarks: unknown }, [], undefined, settings));
  return { ...server, landmarks: { ...unknown, ...(await fill(server)) } };
}

/** Before the groups are created. */
const unknown: Landmarks = {
  groups: teamSize,
  groupUid: "",
  ownerUid: "",
  teamUid: "",
  teamSize,
  emptyUid: "",
  deepUid: "",
  sampleUids: [],
};

async function fill(server: Gatehouse): Promise<Pick<Landmarks, "sampleUids" | "teamUid" | "emptyUid">> {
  const [root] = (await call(server, "GET", "?name=example.org")).groups as { uid: string }[];
  const create = async (parent: string, name: string) =>
    String((await call(server, "POST", `/${parent}`, { name, description: `What ${name} needs` })).uid);
  const teamUid = await create(root!.uid, "team");
  const emptyUid = await create(root!.uid, "created by the benchmark");
  const sampleUids: string[] = [];
  for (let made = 0; made < teamSize; made += creators) {
    const names = Array.from({ length: Math.min(creators, teamSize - made) }, (_, i) => `group ${made + i}`);
    sampleUids.push(...(await Promise.all(names.map((name) => create(teamUid, name)))));
  }
  return { teamUid, emptyUid, sampleUids };
}

async function call({ url, authorization }: Gatehouse, method: string, suffix: string, body?: object) {
  const headers = { authorization, "content-type": "application/json" };
  const response = await fetch(`${url}${groupsResource}${suffix}`, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${groupsResource}${suffix}: ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}
