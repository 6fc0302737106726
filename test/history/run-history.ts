// One run: an installation, its replicas, the clients and the faults, and the check of what the clients saw.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { run } from "../cli/process.ts";
import { freePort, type OwnPostgres, startOwnPostgres } from "../harness/postgres.ts";
import { openPostgresProxy, type PostgresProxy } from "../harness/postgres-proxy.ts";
import { causeFaults } from "./faults.ts";
import { History, now } from "./history.ts";
import { createInstallation } from "./installation.ts";
import type { PlantedFault } from "./planted-faults.ts";
import { Replica } from "./replica.ts";
import { Slots } from "./slots.ts";
import { WorkloadClient } from "./workload.ts";

/** How many clients make calls at the same time. */
const clientCount = 8;

/** How many server processes share a PostgreSQL database. */
const replicaCount = 3;

/** Options of a run. */
export interface RunOptions {
  readonly database: "sqlite" | "postgres";
  readonly seed: number;
  readonly seconds: number;
  readonly planted: PlantedFault | undefined;
  /** How many processes each server has (`--workers`). */
  readonly workers: number;
}

/** What a run found. */
export interface RunResult {
  readonly violations: readonly string[];
  readonly observations: number;
  /** How often each code was received. */
  readonly codes: Readonly<Record<string, number>>;
  /** How often each fault was caused. */
  readonly faults: Readonly<Record<string, number>>;
}

/** Runs the clients for the given time. */
export async function runHistory({ database, seed, seconds, planted, workers }: RunOptions): Promise<RunResult> {
  await using opened = new AsyncDisposableStack();
  const directory = mkdtempSync(path.join(tmpdir(), "gatehouse-history-"));
  opened.defer(() => rmSync(directory, { recursive: true, force: true }));
  const postgres = database === "postgres" ? opened.use(await startOwnPostgres()) : undefined;
  const settings = await settingsOf(directory, postgres);
  const installation = await createInstallation(settings);
  const served = { ...settings, workers: String(workers) };
  const { replicas, proxies } = await openReplicas(opened, directory, served, postgres, planted);
  await Promise.all(replicas.map((replica) => replica.start()));

  const history = new History();
  const options = {
    ...{ seed, replicas, installation, history },
    slots: new Slots(installation.folders, installation.people),
  };
  const clients = Array.from({ length: clientCount }, (_, index) => opened.use(new WorkloadClient(options, index)));
  const faults: Record<string, number> = {};
  const until = now() + 1000 * seconds;
  await Promise.all([
    ...clients.map((client) => client.run(until)),
    causeFaults({ replicas, proxies, postgres, workers }, seed, until, (name) => {
      faults[name] = (faults[name] ?? 0) + 1;
    }),
  ]);
  for (const replica of replicas) await clients[0]!.listAll(replica);
  const violations = [
    ...(await crashesOf(replicas)),
    ...history.check(),
    ...(await databaseFindings(settings, replicas)),
  ];
  return { violations, observations: history.size, codes: sumOf(clients.map(({ codes }) => codes)), faults };
}

function sumOf(maps: readonly ReadonlyMap<string, number>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const [name, count] of maps.flatMap((map) => [...map])) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

async function settingsOf(directory: string, postgres: OwnPostgres | undefined) {
  const listen = `127.0.0.1:${await freePort()}`;
  return {
    dataDir: directory,
    listen,
    baseUrl: `http://${listen}`,
    eventDelivery: "off",
    logLevel: "warn",
    ...(postgres && { databaseUrl: postgres.url }),
  };
}

/**
 * Creates the replicas, which are not started yet; those on PostgreSQL have a proxy each. All but the first let the standby
 * answer lists.
 */
async function openReplicas(
  opened: AsyncDisposableStack,
  directory: string,
  settings: Readonly<Record<string, string>>,
  postgres: OwnPostgres | undefined,
  planted: PlantedFault | undefined,
) {
  const replicas: Replica[] = [];
  const proxies: PostgresProxy[] = [];
  for (let index = 0; index < (postgres ? replicaCount : 1); index++) {
    const proxy = postgres && opened.use(await openPostgresProxy(postgres.url));
    if (proxy) proxies.push(proxy);
    const listen = `127.0.0.1:${await freePort()}`;
    const databases = {
      ...(proxy && { databaseUrl: proxy.url }),
      ...(postgres && index > 0 && { databaseReplicaUrl: postgres.standbyUrl }),
    };
    const args = ["serve", ...flagsOf({ ...settings, listen, ...databases })];
    const options = { name: `r${index}`, args, url: `http://${listen}`, directory, planted };
    replicas.push(opened.use(new Replica(options)));
  }
  return { replicas, proxies };
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
