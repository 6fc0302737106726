// One run: an installation, its replicas, the clients and the faults, and the check of what the clients saw.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { rootOf } from "../../src/model/uid.ts";
import { run } from "../cli/process.ts";
import { freePort, type OwnPostgres, startOwnPostgres } from "../harness/postgres.ts";
import { openPostgresProxy, type PostgresProxy } from "../harness/postgres-proxy.ts";
import { causeFaults } from "./faults.ts";
import { History, now } from "./history.ts";
import { createInstallation } from "./installation.ts";
import { Mirror } from "./mirror.ts";
import type { PlantedFault } from "./planted-faults.ts";
import { Replica } from "./replica.ts";
import { ReplicatedPostgres, type Replication } from "./replicated-postgres.ts";
import { Slots } from "./slots.ts";
import { WorkloadClient } from "./workload.ts";

/** How many clients make calls at the same time. */
const clientCount = 8;

/** How many copies of the resources follow their changes. */
const mirrorCount = 3;

/** How many server processes share a PostgreSQL database. */
const replicaCount = 3;

/** Options of a run. */
export interface RunOptions {
  readonly database: "sqlite" | "postgres";
  /** The replication by which a standby follows the primary that it takes over from; undefined without failover. */
  readonly failover?: Replication;
  readonly seed: number;
  readonly seconds: number;
  readonly planted: PlantedFault | undefined;
  /** How many processes each server has (`--workers`). */
  readonly workers: number;
}

/** The result of a run. */
export interface RunResult {
  readonly violations: readonly string[];
  readonly observations: number;
  /** How often each code was received. */
  readonly codes: Readonly<Record<string, number>>;
  /** How often each fault was caused. */
  readonly faults: Readonly<Record<string, number>>;
  /** The streams that mirrors opened, and the changes that came by them. */
  readonly mirrored: { readonly streams: number; readonly changes: number };
}

/** Runs the clients for the given time. */
export async function runHistory(runOptions: RunOptions): Promise<RunResult> {
  const { database, failover, seed, seconds, planted, workers } = runOptions;
  await using opened = new AsyncDisposableStack();
  const directory = mkdtempSync(path.join(tmpdir(), "gatehouse-history-"));
  opened.defer(() => rmSync(directory, { recursive: true, force: true }));
  const replicated = failover ? opened.use(await ReplicatedPostgres.start(failover)) : undefined;
  const postgres = database === "postgres" && !failover ? opened.use(await startOwnPostgres()) : undefined;
  const settings = await settingsOf(directory, (replicated ?? postgres)?.url);
  const installation = await createInstallation(settings);
  const served = { ...settings, workers: String(workers) };
  const { replicas, proxies } = await openReplicas(opened, directory, served, postgres ?? replicated, planted);
  await Promise.all(replicas.map((replica) => replica.start()));

  const history = new History();
  const options = {
    seed,
    replicas,
    installation,
    history,
    slots: new Slots(installation.folders, installation.people),
  };
  const clients = Array.from({ length: clientCount }, (_, index) => opened.use(new WorkloadClient(options, index)));
  const [token, parent] = [installation.ownerToken, rootOf(installation.folders[0]!)];
  const mirrors = Array.from({ length: mirrorCount }, (_, index) =>
    opened.use(new Mirror({ seed, replicas, token, parent, history }, index)),
  );
  const faults: Record<string, number> = {};
  const until = now() + 1000 * seconds;
  await Promise.all([
    ...clients.map((client) => client.run(until)),
    ...mirrors.map((mirror) => mirror.follow(() => now() < until)),
    causeFaults({ replicas, proxies, postgres, replicated, workers }, seed, until, (name) => {
      faults[name] = (faults[name] ?? 0) + 1;
    }),
  ]);
  for (const replica of replicas) await clients[0]!.listAll(replica);
  await Promise.all(mirrors.map((mirror) => mirror.settle()));
  const violations = [
    ...(await crashesOf(replicas)),
    ...history.check(),
    ...(await databaseFindings({ ...settings, ...(replicated && { databaseUrl: replicated.url }) }, replicas)),
  ];
  const codes = sumOf(clients.map((client) => client.codes));
  const mirrored = { streams: total(mirrors, "streams"), changes: total(mirrors, "changes") };
  return { violations, observations: history.size, codes, faults, mirrored };
}

function total(mirrors: readonly Mirror[], what: keyof Mirror["counts"]): number {
  return mirrors.reduce((sum, { counts }) => sum + counts[what], 0);
}

function sumOf(maps: readonly ReadonlyMap<string, number>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const [name, count] of maps.flatMap((map) => [...map])) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

async function settingsOf(directory: string, databaseUrl: string | undefined) {
  const listen = `127.0.0.1:${await freePort()}`;
  return {
    dataDir: directory,
    listen,
    baseUrl: `http://${listen}`,
    eventDelivery: "off",
    logLevel: "warn",
    ...(databaseUrl !== undefined && { databaseUrl }),
  };
}

/**
 * Creates the replicas, which are not started yet; those on PostgreSQL have a proxy to each host. Without failover, all but the
 * first let the standby answer lists.
 */
async function openReplicas(
  opened: AsyncDisposableStack,
  directory: string,
  settings: Readonly<Record<string, string>>,
  postgres: OwnPostgres | ReplicatedPostgres | undefined,
  planted: PlantedFault | undefined,
) {
  const replicas: Replica[] = [];
  const proxies: PostgresProxy[] = [];
  for (let index = 0; index < (postgres ? replicaCount : 1); index++) {
    const listen = `127.0.0.1:${await freePort()}`;
    const databases = await openProxies(opened, postgres, index, proxies);
    const args = ["serve", ...flagsOf({ ...settings, listen, ...databases })];
    const options = { name: `r${index}`, args, url: `http://${listen}`, directory, planted };
    replicas.push(opened.use(new Replica(options)));
  }
  return { replicas, proxies };
}

/** Opens the proxies of a replica. Returns its settings of the database. */
async function openProxies(
  opened: AsyncDisposableStack,
  postgres: OwnPostgres | ReplicatedPostgres | undefined,
  index: number,
  proxies: PostgresProxy[],
): Promise<Readonly<Record<string, string>>> {
  const open = async (url: string) => {
    const proxy = opened.use(await openPostgresProxy(url));
    proxies.push(proxy);
    return proxy;
  };
  if (!postgres) return {};
  if (postgres instanceof ReplicatedPostgres) {
    const [first, second] = postgres.hosts;
    return { databaseUrl: postgres.follow([await open(first), await open(second)]) };
  }
  const { url } = await open(postgres.url);
  return { databaseUrl: url, ...(index > 0 && { databaseReplicaUrl: postgres.standbyUrl }) };
}

function flagsOf(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => [
    `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    value,
  ]);
}

async function crashesOf(replicas: readonly Replica[]): Promise<string[]> {
  const logs = await Promise.all(replicas.map(async (replica) => [replica.name, await replica.logOfCrash()] as const));
  return logs.flatMap(([name, log]) => (log === undefined ? [] : [`${name} ended by itself:\n${log}`]));
}

/** Returns what `gatehouse db check` finds after the replicas have ended. */
async function databaseFindings(
  settings: Readonly<Record<string, string>>,
  replicas: readonly Replica[],
): Promise<string[]> {
  for (const replica of replicas) await replica.kill();
  const { dataDir, databaseUrl } = settings;
  const flags = flagsOf({ dataDir: dataDir!, ...(databaseUrl && { databaseUrl }) });
  const { code, stdout, stderr } = await run(["db", "check", ...flags]);
  return code === 0 ? [] : [`gatehouse db check: exit code ${code}\n${stdout}${stderr}`];
}
