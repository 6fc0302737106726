// PostgreSQL as Debian packages it: unlike the embedded one, it has pg_basebackup and TLS.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { freePort, unprivileged } from "./postgres.ts";
import { untilTrue } from "./until.ts";

const versions = "/usr/lib/postgresql";

/** The folder of its programs, or undefined if it is not installed. */
export const debianPostgres = existsSync(versions)
  ? readdirSync(versions)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => path.join(versions, version, "bin"))
      .find((bin) => existsSync(path.join(bin, "postgres")))
  : undefined;

export interface DebianServer extends AsyncDisposable {
  readonly port: number;
  readonly directory: string;
  /** The URL of a database on it, as superuser. */
  url(database: string): string;
  /** Runs one statement as superuser. */
  query(statement: string, database?: string): Promise<Record<string, unknown>[]>;
  /** SIGINT is a fast shutdown, SIGQUIT one that does not even flush. */
  stop(signal: "SIGINT" | "SIGQUIT"): Promise<void>;
}

export interface DebianServerOptions {
  /** Settings by name. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The primary that it is a standby of. */
  readonly primary?: DebianServer;
  /** A directory that is kept, with its data directory if there is one; a temporary one if absent. */
  readonly directory?: string;
  /** Called with the data directory before the server starts. */
  readonly prepare?: (data: string) => void;
}

const run = promisify(execFile);

/** Gives a file to the user that PostgreSQL runs as, and to nobody else. */
export function giveToPostgres(file: string): void {
  if (unprivileged.uid !== undefined) chownSync(file, unprivileged.uid, unprivileged.gid);
  chmodSync(file, 0o600);
}

/** Runs a program as the user that PostgreSQL runs as. */
export function spawnUnprivileged(program: string, args: readonly string[], cwd: string): ChildProcess {
  return spawn(program, args, { ...unprivileged, cwd, stdio: "ignore" });
}

/** Creates a folder that PostgreSQL can write to. */
export function newServerDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), "gatehouse-debian-"));
  if (unprivileged.uid !== undefined) chownSync(directory, unprivileged.uid, unprivileged.gid);
  return directory;
}

/** Starts a server with a data directory of its own. */
export async function startDebianPostgres(options: DebianServerOptions = {}): Promise<DebianServer> {
  const directory = options.directory ?? newServerDirectory();
  const data = path.join(directory, "data");
  if (!existsSync(data)) await createData(data, directory, options.primary);
  options.prepare?.(data);
  const port = await freePort();
  const settings = { listen_addresses: "127.0.0.1", port: String(port), ...options.settings };
  const args = [
    "-D",
    data,
    "-k",
    directory,
    ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
  const child = spawnUnprivileged(path.join(debianPostgres!, "postgres"), args, directory);
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const server: DebianServer = {
    port,
    directory,
    url: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    query: (statement, database = "postgres") => queryOnce(server.url(database), statement),
    async stop(signal) {
      child.kill(signal);
      await ended;
    },
    async [Symbol.asyncDispose]() {
      const isKept = options.directory !== undefined;
      if (child.exitCode === null && child.signalCode === null) await server.stop(isKept ? "SIGINT" : "SIGQUIT");
      if (!isKept) rmSync(directory, { recursive: true, force: true });
    },
  };
  await untilTrue(async () => (await server.query("SELECT 1")).length === 1);
  return server;
}

async function createData(data: string, cwd: string, primary: DebianServer | undefined): Promise<void> {
  const [program, args] = primary
    ? [
        "pg_basebackup",
        [
          "-D",
          data,
          "-h",
          "127.0.0.1",
          "-p",
          String(primary.port),
          "-U",
          "postgres",
          "-R",
          "-X",
          "stream",
          "-c",
          "fast",
        ],
      ]
    : (["initdb", ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]] as const);
  await run(path.join(debianPostgres!, program as string), args as string[], { ...unprivileged, cwd });
}

async function queryOnce(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query(statement)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}
