import path from "node:path";
import pino, { type Logger } from "pino";
import { systemClock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Development } from "../development.ts";
import { makeDirectory } from "../directories.ts";
import { type LogOptions, newLog } from "../observe/log.ts";
import { type Server, startServer, type UnopenedServer } from "../server.ts";
import { ConfigError } from "../settings.ts";
import type { Database } from "../storage/database.ts";
import { reasonOf } from "../system-error.ts";
import { version } from "../version.ts";
import { openLock } from "./lock.ts";

/** Runs the server until the process is told to stop. */
export async function serve(config: Config): Promise<number> {
  const log = newLog(logOptions(config), pino.destination({ dest: 2, sync: false }));
  // From here on, so that whoever was told that the server listens may stop it in good order.
  const stopped = untilStopped();
  await using running = new AsyncDisposableStack();
  const development = config.dev ? await import("../development.ts") : undefined;
  const admit = async (database: Database) => {
    await development?.checkData(database);
    if (development) running.use(await lockDataDirectory(config));
  };
  let sample: Development | undefined;
  // Before the port is open, so that a client that waits for it finds the owner's token.
  const prepare = async (unopened: UnopenedServer) => {
    sample = await development?.openDevelopment(config, unopened, log);
    if (sample) running.use(sample);
  };
  const server = running.use(await startServer(config, log, systemClock, { admit, prepare }));
  console.log(banner(config, server));
  if (sample) console.log(welcome(server.url, sample.organization.groupUid, sample.tokenFile));
  await stopped;
  await stop(server, log);
  return 0;
}

/** Text is for a person at a terminal; what collects logs reads JSON. */
function logOptions({ logLevel: level, logFormat }: Config): LogOptions {
  if (logFormat !== "auto") return { level, format: logFormat };
  return { level, format: process.stderr.isTTY ? "text" : "json" };
}

/** A second development server would put a token of its own in the place of the owner's, which the first does not take. */
async function lockDataDirectory({ dataDir }: Config): Promise<Disposable> {
  makeDataDirectory(dataDir);
  const lock = await openLock(path.join(dataDir, "development.lock"), 0).catch((error: Error) => {
    throw new ConfigError(`data-dir: ${error.message}.`);
  });
  if (lock) return lock;
  throw new ConfigError(`data-dir: another development server runs on ${dataDir}; choose another data directory.`);
}

function makeDataDirectory(dataDir: string): void {
  try {
    makeDirectory(dataDir);
  } catch (error) {
    throw new ConfigError(`data-dir: ${dataDir} cannot be made: ${reasonOf(error, dataDir)}.`);
  }
}

/** What runs here: enforcement, listener, storage, issuer, secrets. */
function banner(config: Config, server: Server): string {
  return [
    `Gatehouse ${version} listens on ${server.url} (gRPC, gRPC-web, Connect, REST)`,
    `  mode     ${config.dev ? "development: sample data, never for production" : "production"}; authorization is enforced`,
    `  storage  ${server.database.dialect}${server.database.dialect === "sqlite" ? ` ${config.databaseUrl}` : ""}`,
    `  issuer   ${config.baseUrl}`,
    `  secrets  ${secretsState(server)}`,
  ].join("\n");
}

/** How secrets are stored. */
function secretsState({ seals: { keyId } }: Server): string {
  if (keyId !== undefined) return `sealed with the key ${keyId}`;
  return "in the clear, and no client secret is stored: set --secrets-key or GATEHOUSE_SECRETS_KEY";
}

function welcome(url: string, groupUid: string, tokenFile: string): string {
  return [
    "",
    "The owner of the sample organization example.org may do anything:",
    "",
    `  curl -H "Authorization: Bearer $(cat ${tokenFile})" "${url}/iam/v2beta1/groups?uidp.descendants_of=${groupUid}"`,
    "",
  ].join("\n");
}

/** How long a repeated signal counts as the same one: a terminal signals the whole group, a launcher passes it on. */
const sameSignalMs = 1000;

/** Resolves at the first signal. One that comes again later ends the process at once. */
async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    let stoppingSince: number | undefined;
    const onSignal = () => {
      if (stoppingSince !== undefined && performance.now() - stoppingSince > sameSignalMs) process.exit(130);
      stoppingSince ??= performance.now();
      resolve();
    };
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, onSignal);
  });
}

async function stop(server: Server, log: Logger): Promise<void> {
  log.info("stopping");
  await server.drain();
}
