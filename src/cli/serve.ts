import pino, { type Logger } from "pino";
import type { Config } from "../config.ts";
import { type Server, startServer } from "../server.ts";
import { version } from "../version.ts";
import { namingDamage } from "./open.ts";

/** Runs the server until the process is told to stop. */
export async function serve(config: Config): Promise<number> {
  const log = pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: false }));
  // From here on, so that whoever was told that the server listens may stop it in good order.
  const stopped = untilStopped();
  const server = await namingDamage(config, () => startServer(config, log));
  console.log(banner(config, server));
  const development = config.dev
    ? await (await import("../development.ts")).openDevelopment(config, server)
    : undefined;
  if (development) console.log(welcome(server.url, development.organization.groupUid, development.tokenFile));
  await stopped;
  development?.[Symbol.dispose]();
  await stop(server, log);
  return 0;
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
