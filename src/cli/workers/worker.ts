// A worker: a server that takes its settings and its orders from the primary.
import pino, { type Logger } from "pino";
import { systemClock } from "../../base/clock.ts";
import { toConfig } from "../../config/config.ts";
import { ConfigError, type RawSettings } from "../../config/settings.ts";
import { newLog } from "../../observe/log.ts";
import { type Server, startServer } from "../../server/server.ts";
import { logOptions, startSummary } from "../start-summary.ts";
import { openTelemetry } from "../telemetry.ts";
import { openPrimaryChannel, sharedMetricsOf } from "./primary-channel.ts";

/** Serves until the primary says to stop, or has ended. */
export async function serveAsWorker(number: number, environment: NodeJS.ProcessEnv): Promise<number> {
  // A terminal and systemd signal all processes. The primary says what to do.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
  using primary = openPrimaryChannel();
  const { settings: atStart, key } = await primary.next("start");
  const config = toConfig(atStart);
  const log = newLog({ ...logOptions(config), worker: number }, pino.destination({ dest: 2, sync: false }));
  await using _telemetry = await openTelemetry(environment, log);
  await using server = await startServer(config, log, systemClock, {
    sharedMetrics: sharedMetricsOf(primary),
    // The first worker: the others start after it.
    group: { isWriter: number === 1, key },
    async prepare() {
      const open = primary.next("open");
      primary.send({ kind: "prepared" });
      await Promise.race([open, primary.stopped]);
    },
  });
  primary.on("reload", async ({ settings }) =>
    primary.send({ kind: "reloaded", problem: await reloadProblem(server, settings, log) }),
  );
  primary.on("announceStop", () => server.announceStop());
  primary.send({ kind: "listening", summary: startSummary(config, server) });
  await primary.stopped;
  await server.drain();
  return 0;
}

/** Reloads the settings. Returns why that failed; undefined if it did not. */
async function reloadProblem(server: Server, settings: RawSettings, log: Logger): Promise<string | undefined> {
  try {
    await server.reload(toConfig(settings));
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    log.error({ err: error }, "reloading the settings failed");
    return "see the error of the worker";
  }
}
