// `gatehouse emulator`: a server for the tests of programs, whose data ends with it.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import pino, { type Logger } from "pino";
import { type Config, toConfig } from "../../config/config.ts";
import { readSettings } from "../../config/read-settings.ts";
import { newLog } from "../../observe/log.ts";
import { moveClock } from "../../server/emulator/clock.ts";
import { type Emulator, startEmulator } from "../../server/emulator/emulator.ts";
import { watchAncestors } from "../ancestors.ts";
import { hasLauncher, parentAtStart } from "../launcher.ts";
import { listenForStop } from "../server-signals.ts";
import { logOptions } from "../start-summary.ts";
import { openDataDirectory } from "./data-directory.ts";

/** How often a start is tried: another program may take the port that was free. */
const attempts = 5;

/** Runs an emulator until the process is told to stop. Without an address it listens on a free port of loopback. */
export async function runEmulator(listen: string | undefined): Promise<number> {
  const signals = listenForStop(hasLauncher());
  // A closed terminal stops it as well: the default effect of the signal would leave its data.
  process.on("SIGHUP", stop);
  await using running = new AsyncDisposableStack();
  running.use(watchAncestors(parentAtStart(), hasLauncher(), stop));
  const clock = running.use(moveClock());
  const data = running.use(await openDataDirectory());
  const start = async (address: string) => {
    const config = configOf(address, data.path);
    return { config, emulator: running.use(await startEmulator(config, logOf(config), clock)) };
  };
  const { config, emulator } = listen === undefined ? await startOnFreePort(start) : await start(listen);
  const { url, adminToken } = emulator;
  console.log(JSON.stringify({ url, issuer: config.baseUrl, adminToken, pid: process.pid }));
  await signals.stopped;
  await emulator.drain();
  return 0;
}

function stop(): void {
  process.kill(process.pid, "SIGTERM");
}

interface Started {
  readonly config: Config;
  readonly emulator: Emulator;
}

async function startOnFreePort(start: (address: string) => Promise<Started>): Promise<Started> {
  for (let attempt = 1; ; attempt++) {
    const address = `127.0.0.1:${await findFreePort()}`;
    try {
      return await start(address);
    } catch (error) {
      if (attempt === attempts) throw error;
    }
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  await once(server.listen({ host: "127.0.0.1", port: 0 }), "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Reads no variables: those of a server on the same machine must not reach the emulator. */
function configOf(listen: string, dataDir: string): Config {
  const flags = {
    dev: true,
    listen,
    dataDir,
    signingAlgorithm: "ES256",
    secretsKey: randomBytes(32).toString("base64"),
    drainTimeout: "1",
    logLevel: "warn",
  };
  return toConfig(readSettings(flags, {}));
}

function logOf(config: Config): Logger {
  return newLog(logOptions(config), pino.destination({ dest: 2, sync: false }));
}
