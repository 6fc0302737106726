import path from "node:path";
import pino, { type Logger } from "pino";
import { systemClock } from "../base/clock.ts";
import { makeDirectory } from "../base/directories.ts";
import { errorMessage } from "../base/system-error.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/settings.ts";
import { consolePath } from "../console/console-pages.ts";
import { newLog } from "../observe/log.ts";
import type { Development } from "../server/development/development.ts";
import { type Server, startServer } from "../server/server.ts";
import type { UnopenedServer } from "../server/start-hooks.ts";
import type { Database } from "../storage/database.ts";
import { watchAncestors } from "./ancestors.ts";
import { parentAtStart } from "./launcher.ts";
import { openLock } from "./lock.ts";
import { reloadSettings } from "./reload-settings.ts";
import type { ServeOptions } from "./serve-options.ts";
import { listenForReload, listenForStop, type StopSignals } from "./server-signals.ts";
import { logOptions, startSummary } from "./start-summary.ts";
import { openTelemetry } from "./telemetry.ts";

/** Runs the server until the process is told to stop. */
export async function serve(options: ServeOptions): Promise<number> {
  const { config } = options;
  const log = newLog(logOptions(config), pino.destination({ dest: 2, sync: false }));
  // Before anything is announced, so a server that reports that it is listening stops gracefully.
  const signals = listenForStop(options.hasLauncher);
  const started = Promise.withResolvers<Server>();
  listenForReload(async () => {
    const server = await started.promise;
    await reloadSettings(options, ({ config }) => server.reload(config), log);
  });
  await using running = new AsyncDisposableStack();
  running.use(await openTelemetry(options.environment, log));
  if (config.dev) running.use(watchAncestors(parentAtStart(), options.hasLauncher, () => stopOrphan(log)));
  const development = config.dev ? await import("../server/development/development.ts") : undefined;
  const admit = async (database: Database) => {
    await development?.checkData(database);
    if (development) running.use(await lockDataDirectory(config));
  };
  let sample: Development | undefined;
  // Before the port opens, so a client that waits for the port finds the owner's token.
  const prepare = async (unopened: UnopenedServer) => {
    sample = await development?.openDevelopment(config, unopened, log);
    if (sample) running.use(sample);
  };
  const server = running.use(await startServer(config, log, systemClock, { admit, prepare }));
  if (sample && config.hasConsole) console.log(`Console: ${config.baseUrl}${consolePath}`);
  console.log(startSummary(config, server));
  if (sample) console.log(welcome(server.url, sample.organization.groupUid, sample.tokenFile));
  started.resolve(server);
  await signals.stopped;
  await stop(config, server, signals, log);
  return 0;
}

/** Stops this process as SIGTERM does. */
function stopOrphan(log: Logger): void {
  log.warn({ event: "parent_ended" }, "the process that started this development server has ended");
  process.kill(process.pid, "SIGTERM");
}

/** A second development server would replace the owner's token with one that the first rejects. */
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
    throw new ConfigError(`data-dir: ${dataDir} cannot be made: ${errorMessage(error, dataDir)}.`);
  }
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

/** Stops gracefully: stays up while load balancers learn about it, then drains. */
async function stop({ shutdownDelayMs }: Config, server: Server, signals: StopSignals, log: Logger): Promise<void> {
  log.info({ shutdownDelayMs }, "stopping");
  server.announceStop();
  if (shutdownDelayMs > 0) await signals.pause(shutdownDelayMs);
  await server.drain();
}
