// Faults of processes, connections, clocks and the database, which a seed chooses.
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import type { OwnPostgres } from "../harness/postgres.ts";
import type { PostgresProxy } from "../harness/postgres-proxy.ts";
import { now } from "./history.ts";
import { newRandom, pick, type Random } from "./random.ts";
import type { Replica } from "./replica.ts";
import type { ReplicatedPostgres } from "./replicated-postgres.ts";

/** The targets of the faults. */
export interface FaultTargets {
  readonly replicas: readonly Replica[];
  /** The connections of each replica to PostgreSQL; none with SQLite. */
  readonly proxies: readonly PostgresProxy[];
  readonly postgres: OwnPostgres | undefined;
  /** A primary with a standby that takes over. */
  readonly replicated: ReplicatedPostgres | undefined;
  /** How many processes each server has. */
  readonly workers: number;
}

/** Causes one fault, and ends it. */
type Fault = (targets: FaultTargets, random: Random) => Promise<void>;

/** A clock may be wrong by this much, in milliseconds; the documented limit is 30 seconds between servers. */
const maxSkewMs = 12_000;

/** The stream of random numbers of the faults; the clients have the streams from 0. */
const faultStream = 1000;

/** Faults of a server process. */
const processFaults: Readonly<Record<string, Fault>> = {
  async "kill -9"({ replicas }, random) {
    const replica = pick(random, replicas);
    await replica.kill();
    await pause(random(500));
    await replica.start();
  },
  "paused process": ({ replicas }, random) => pick(random, replicas).pause(200 + random(2500)),
  async "clock skew"({ replicas }, random) {
    pick(random, replicas).skewClock(random(2 * maxSkewMs) - maxSkewMs);
  },
};

/** Faults of one of several processes of a server. */
const workerFaults: Readonly<Record<string, Fault>> = {
  async "kill -9 of a worker"({ replicas, workers }, random) {
    pick(random, replicas).killWorker(random(workers));
    // Each end within ten seconds of a start makes the next start later.
    await pause(4000);
  },
  "paused worker": ({ replicas, workers }, random) =>
    pick(random, replicas).pauseWorker(random(workers), 200 + random(2500)),
};

/** Faults of the connections to PostgreSQL. */
const connectionFaults: Readonly<Record<string, Fault>> = {
  async "connections cut"({ proxies }, random) {
    pick(random, proxies).cut();
  },
  async "connection cut after COMMIT"({ proxies }, random) {
    const proxy = pick(random, proxies);
    proxy.beforeResponse = async (request) => {
      if (!request.includes("COMMIT")) return;
      proxy.beforeResponse = undefined;
      proxy.cut();
    };
    await pause(1000);
    proxy.beforeResponse = undefined;
  },
  "delayed connections": ({ proxies }, random) => delay([pick(random, proxies)], 20 + random(400), random(3000)),
  "slow database": ({ proxies }, random) => delay(proxies, 20 + random(200), random(3000)),
  async "silent connections"({ proxies }, random) {
    const proxy = pick(random, proxies);
    await delay([proxy], 1_000_000, 500 + random(4000));
    proxy.cut();
  },
};

/** Faults of PostgreSQL. */
const databaseFaults: Readonly<Record<string, Fault>> = {
  "database restart": ({ postgres }) => postgres!.restart("SIGINT"),
  "database crash": ({ postgres }) => postgres!.restart("SIGQUIT"),
  async "locked table"({ postgres }, random) {
    const table = pick(random, ["changes", "settings", "counters", "groups", "group_entries", "role_bindings"]);
    await withSession(postgres!.url, async (client) => {
      await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
      await pause(random(2000));
      await client.query("COMMIT");
    });
  },
  async "lagging standby"({ postgres }, random) {
    await withSession(postgres!.standbyUrl, async (client) => {
      await client.query("SELECT pg_wal_replay_pause()");
      await pause(1000 + random(4000));
      await client.query("SELECT pg_wal_replay_resume()");
    });
  },
  "terminated sessions": ({ postgres }) => signalSessions(postgres!, "pg_terminate_backend"),
  "cancelled statements": ({ postgres }) => signalSessions(postgres!, "pg_cancel_backend"),
};

/** The fault of a primary with a standby. */
const failover: readonly [string, Fault] = ["failover", ({ replicated }, random) => replicated!.failOver(random(1500))];

/** Causes one fault after another until the time of the test is `until`. `onFault` gets the name of each. */
export async function causeFaults(
  targets: FaultTargets,
  seed: number,
  until: number,
  onFault: (name: string) => void,
): Promise<void> {
  const random = newRandom(seed, faultStream);
  const faults = Object.entries({
    ...processFaults,
    ...(targets.workers > 1 && workerFaults),
    ...(targets.proxies.length > 0 && connectionFaults),
    ...(targets.postgres && databaseFaults),
  });
  // The others would seldom leave time for it.
  const isFailover = () => targets.replicated !== undefined && random(3) === 0;
  while (now() < until) {
    const [name, cause] = isFailover() ? failover : pick(random, faults);
    onFault(name);
    await cause(targets, random);
    await pause(200 + random(1500));
  }
}

/** Holds what the proxies pass on by up to `ms` milliseconds, for `durationMs`. */
async function delay(proxies: readonly PostgresProxy[], ms: number, durationMs: number): Promise<void> {
  const end = pause(durationMs);
  const wait = () => Promise.race([pause(ms, undefined, { ref: false }), end]).then(() => {});
  for (const proxy of proxies) proxy.beforeRequest = wait;
  await end;
  for (const proxy of proxies) proxy.beforeRequest = undefined;
}

async function signalSessions(postgres: OwnPostgres, signal: string): Promise<void> {
  await withSession(postgres.url, async (client) => {
    await client.query(`SELECT ${signal}(pid) FROM pg_stat_activity
      WHERE application_name = 'gatehouse' AND random() < 0.3`);
  });
}

async function withSession(url: string, body: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client(url);
  client.on("error", () => {});
  await client.connect();
  try {
    await body(client);
  } finally {
    await client.end();
  }
}
