// Starts and stops a server. Every step opens what the next ones stand on; closing happens in reverse order.

import type { Logger } from "pino";
import type { Tokens } from "../authn/tokens.ts";
import type { Policy } from "../authz/policy.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import type { Config } from "../config/config.ts";
import { newLiveSecrets } from "../config/live-secrets.ts";
import { ConfigError } from "../config/settings.ts";
import { type Database, sqliteFile } from "../storage/database.ts";
import { DecryptionError, type Encryption } from "../storage/installation/encryption.ts";
import { type Forwarder, newForwarder } from "../transport/forwarding/forwarder.ts";
import { openWriterPort, type WriterPort } from "../transport/forwarding/writer-port.ts";
import { newServerApi, type ServerApi } from "./api.ts";
import { type BackgroundWork, startBackgroundWork } from "./background-work.ts";
import { requireFreePorts } from "./free-ports.ts";
import { openImageReading } from "./image-reading.ts";
import { storeIssuer } from "./installation.ts";
import { checkLogin } from "./login-check.ts";
import { nodeIdOf } from "./nodes.ts";
import { toStorageError } from "./open-database.ts";
import { reload } from "./reload.ts";
import type { ServerContext } from "./server-context.ts";
import type { StartHooks } from "./start-hooks.ts";
import { openStorage } from "./storage.ts";
import { surroundMethods } from "./surround-methods.ts";
import { openTokens } from "./tokens.ts";
import { openTransports, type ServerTransports } from "./transports.ts";

/** A running server. Disposing of it aborts all requests; `drain` finishes them. */
export interface Server extends AsyncDisposable {
  readonly url: string;
  readonly database: Database;
  readonly tokens: Tokens;
  readonly policy: Policy;
  readonly encryption: Encryption;
  /** Marks the server as about to stop for probes and the health service. It still serves. */
  announceStop(): void;
  /**
   * Applies certificate, secrets and log level of new settings. Rejects with a ConfigError, and changes nothing, if one
   * is invalid.
   */
  reload(config: Config): Promise<void>;
  /** Does what is due at the time of the clock, which the background work would do within a minute. */
  catchUp(): Promise<void>;
  /** Finishes the requests in progress, then closes everything. */
  drain(): Promise<void>;
}

/** Starts a server. Rejects before it listens if the configuration or the data does not allow it. */
export async function startServer(
  config: Config,
  log: Logger,
  clock: Clock = systemClock,
  hooks: StartHooks = {},
): Promise<Server> {
  const stopping = new AbortController();
  const { sharedMetrics, group } = hooks;
  const secrets = newLiveSecrets(config);
  const nodeId = nodeIdOf(group);
  const context = { nodeId, config, log, clock, secrets, draining: stopping.signal, sharedMetrics, group };
  try {
    return await openServer(context, () => stopping.abort(), hooks);
  } catch (error) {
    throw startError(config, error);
  }
}

function startError(config: Config, error: unknown): unknown {
  // Closing failed too. The first failure is the cause.
  if (error instanceof SuppressedError) return startError(config, error.suppressed);
  return error instanceof DecryptionError
    ? new ConfigError(`secrets-key: ${error.message}.`)
    : toStorageError(config, error);
}

/** Opens the parts of a server in their order. If one of them fails, closes those before it. */
async function openServer(context: ServerContext, stop: () => void, hooks: StartHooks): Promise<Server> {
  await using opened = new AsyncDisposableStack();
  // The primary of a group looks before it starts the others.
  if (!context.group) await requireFreePorts(context.config);
  const storage = opened.use(await openStorage(context, hooks));
  const tokens = opened.use(await openTokens(context, storage, hooks));
  const forwarder = opened.use(openForwarder(context, storage.database));
  const reading = opened.use(openImageReading(context, storage, tokens));
  const composed = opened.use(newServerApi(context, storage, tokens, forwarder, reading));
  const api = surroundMethods(composed, hooks.surround);
  const unopened = { database: storage.database, tokens: tokens.tokens, policy: tokens.policy };
  await hooks.prepare?.(unopened);
  const writer = opened.use(await openWriter(context, storage.database, api));
  const login = opened.use(checkLogin(context));
  const added = hooks.endpoints?.({ ...unopened, methods: api.methods }) ?? {};
  const transports = opened.use(await openTransports(context, storage, tokens, api, login, added));
  // Not before: a start that fails must not tie the data to its base URL.
  await storeIssuer(context.config, storage.database, context.clock);
  const backgroundWork = opened.use(startBackgroundWork(context, storage, api, reading));
  return {
    ...unopened,
    encryption: storage.encryption,
    url: transports.url,
    announceStop: transports.announceStop,
    catchUp: backgroundWork.catchUp,
    reload: (config) => reload({ ...context, ...storage, transports }, config),
    ...shutdown(
      context.config,
      stop,
      transports,
      [transports, backgroundWork, ...(writer ? [writer] : [])],
      opened.move(),
    ),
  };
}

/** Returns the two ways to stop a server. The first one that is called counts. */
function shutdown(
  { drainTimeoutMs }: Config,
  stop: () => void,
  transports: ServerTransports,
  drained: readonly Pick<BackgroundWork, "drain">[],
  opened: AsyncDisposableStack,
): Pick<Server, "drain" | typeof Symbol.asyncDispose> {
  let closed: Promise<void> | undefined;
  const drainAndClose = async (timeoutMs: number) => {
    await using _closing = opened;
    // Concurrently: each has the whole timeout.
    await Promise.all(drained.map((each) => each.drain(timeoutMs)));
  };
  const close = (timeoutMs: number) => {
    transports.announceStop();
    stop();
    closed ??= drainAndClose(timeoutMs);
    return closed;
  };
  return { drain: () => close(drainTimeoutMs), [Symbol.asyncDispose]: () => close(0) };
}

/** Opens the forwarder of writes to another process; undefined if this process executes all calls. */
function openForwarder(
  { config, group }: ServerContext,
  { session, accessEpoch, writeTurns }: Database,
): Forwarder | undefined {
  if (!group || group.isWriter || session.isRemote) return undefined;
  const { key } = group;
  // As after a write of this process: its next call sees the change of permissions.
  const path = socketOf(config.databaseUrl);
  const forwarder = newForwarder({ path, key, onExecuted: () => accessEpoch.invalidate() });
  // Token exchanges and similar calls are not forwarded: this process writes them itself, once the writer gives it a turn.
  if (writeTurns) writeTurns.take = () => forwarder.takeTurn();
  return forwarder;
}

/** Opens the port for the writes of other processes; undefined if there are none. */
async function openWriter(
  { config, group, log }: ServerContext,
  { session, writeTurns }: Database,
  { methods }: ServerApi,
): Promise<WriterPort | undefined> {
  if (!group?.isWriter || session.isRemote || !writeTurns) return undefined;
  const path = socketOf(config.databaseUrl);
  try {
    return await openWriterPort({ path, key: group.key, methods, lendTurn: () => writeTurns.lend() });
  } catch (error) {
    log.warn(
      { err: error, path },
      "the socket for writes cannot be opened; each worker writes itself, which is slower",
    );
    return undefined;
  }
}

/** Returns a path next to the files of the database: a user who can use that directory can write them, too. */
function socketOf(databaseUrl: string): string {
  return `${sqliteFile(databaseUrl)}-writer`;
}
