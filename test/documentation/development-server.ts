// A development server in this process, with the sample data and the owner's tokens that `npm start` makes.
import { mkdirSync } from "node:fs";
import pino from "pino";
import { systemClock } from "../../src/base/clock.ts";
import { toConfig } from "../../src/config/config.ts";
import { readSettings } from "../../src/config/read-settings.ts";
import { openDevelopment } from "../../src/server/development/development.ts";
import { startServer } from "../../src/server/server.ts";
import { writeMigratedFile } from "../harness/migrated.ts";
import { bringKeys } from "../harness/server-keys.ts";

/** Starts it; disposing of it ends it and leaves its data. */
export async function startDevelopmentServer(
  dataDir: string,
  listen: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<AsyncDisposable> {
  mkdirSync(dataDir, { mode: 0o700 });
  await writeMigratedFile(dataDir);
  const config = toConfig(readSettings({ dev: true, dataDir, listen, ...settings }, {}));
  const log = pino({ level: "silent" });
  const running = new AsyncDisposableStack();
  running.use(
    await startServer(config, log, systemClock, {
      admit: (database) => bringKeys(config, database, systemClock),
      prepare: async (unopened) => void running.use(await openDevelopment(config, unopened, log)),
    }),
  );
  return running;
}
