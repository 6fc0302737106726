// The primary: it keeps the port, gives each connection to a worker, and looks after the workers.
import pino from "pino";
import { settingsAfterReload } from "../../config/reloaded-settings.ts";
import { ConfigError, type RawSettings } from "../../config/settings.ts";
import { newLog } from "../../observe/log.ts";
import { requireFreePorts } from "../../server/free-ports.ts";
import { reloadSettings } from "../reload-settings.ts";
import type { ReadSettings, ServeOptions } from "../serve-options.ts";
import { listenForReload, listenForStop } from "../server-signals.ts";
import { logOptions } from "../start-summary.ts";
import { WorkerEnded } from "./running-worker.ts";
import { WorkerPool } from "./worker-pool.ts";

/** Runs the server with several workers until the process is told to stop. */
export async function serveWithWorkers(options: ServeOptions): Promise<number> {
  const { config } = options;
  const output = pino.destination({ dest: 2, sync: false });
  const { format, level } = logOptions(config);
  const log = newLog({ format, level }, output);
  const signals = listenForStop(options.hasLauncher);
  // The log of a worker goes through a pipe, so only the primary knows whether it ends at a terminal.
  const forWorkers = (settings: RawSettings) => ({ ...settings, "log-format": format });
  const pool = new WorkerPool({ count: config.workers, settings: forWorkers(options.settings), log, output });
  const started = Promise.withResolvers<void>();
  listenForReload(async () => {
    await started.promise;
    const apply = async ({ settings, config: { logLevel } }: ReadSettings) => {
      const problem = await pool.reload(forWorkers(settingsAfterReload(options.settings, settings)));
      if (problem !== undefined) throw new ConfigError(problem);
      log.level = logLevel;
    };
    await reloadSettings(options, apply, log);
  });
  try {
    await requireFreePorts(config);
    console.log(await pool.start());
    started.resolve();
    await Promise.race([signals.stopped, pool.failed]);
    const { shutdownDelayMs } = config;
    log.info({ shutdownDelayMs }, "stopping");
    pool.announceStop();
    if (shutdownDelayMs > 0) await signals.pause(shutdownDelayMs);
    return 0;
  } catch (error) {
    // The worker has printed the problem.
    if (error instanceof WorkerEnded && error.ending.code) return error.ending.code;
    throw error;
  } finally {
    await pool.drain();
  }
}
