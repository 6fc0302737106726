// Opens connections to PostgreSQL, with a timeout for every wait: a dead host, a lost NAT entry or a hanging proxy sends
// nothing, so only a clock notices it.
import { Socket } from "node:net";
import pg from "pg";
import type { PostgresHost } from "../../../base/postgres-url.ts";
import type { DatabaseLimits } from "../dialect.ts";
import { StorageUnavailable } from "../errors.ts";
import type { Hosts } from "./hosts.ts";
import { type SilenceListener, type WatchedConnection, watchSilence } from "./silence.ts";
import type { Writability } from "./writability.ts";

/** The application name of the sessions. */
export const applicationName = "gatehouse";

/** How much longer than the statement timeout to wait for a response, in milliseconds. */
const answerMarginMs = 1000;

/** How long a connection may be idle before the system probes its other end, in milliseconds. */
const keepAliveDelayMs = 10_000;

type Connected = Parameters<pg.Pool["connect"]>[0];

/** The checks before a pool hands out a connection. */
interface Checks {
  readonly hosts: Hosts;
  readonly writability: Pick<Writability, "isOutdated">;
  /** Returns the host of a connection. */
  hostOf(client: pg.ClientBase): PostgresHost | undefined;
}

/**
 * A pool that reports every failed connection as StorageUnavailable: a database that is being renamed, a role without
 * LOGIN or an expired certificate is not the fault of the statement, which may be retried.
 */
export class Pool extends pg.Pool {
  readonly #checks: Checks;
  readonly #openedAt = new WeakMap<pg.ClientBase, number>();
  /** Connections that were opened before have statements that cannot run any more. */
  #renewedAt = Number.NEGATIVE_INFINITY;

  constructor(options: pg.PoolConfig, checks: Checks) {
    super(options);
    this.#checks = checks;
    // A connection that breaks while idle is replaced on next use; one that breaks in use fails its statements.
    this.on("error", () => {});
    this.on("connect", (client) => this.#openedAt.set(client, performance.now()));
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const connected = this.#connectUsable();
    if (!callback) return connected;
    connected.then(
      (client) => callback(undefined, client, client.release),
      (error) => callback(error, undefined, () => {}),
    );
    return undefined;
  }

  /** Returns whether the connection leads to a server that must no longer be used. */
  isOutdated(client: pg.PoolClient): boolean {
    const { hosts, writability, hostOf } = this.#checks;
    const openedAt = this.#openedAt.get(client) ?? Number.POSITIVE_INFINITY;
    return hostOf(client) !== hosts.current() || writability.isOutdated(client) || openedAt <= this.#renewedAt;
  }

  /** Replaces every connection before its next use, because a prepared statement of this one cannot run any more. */
  renew(client: pg.PoolClient): void {
    if (!this.isOutdated(client)) this.#renewedAt = performance.now();
  }

  async #connectUsable(): Promise<pg.PoolClient> {
    const { hosts } = this.#checks;
    for (;;) {
      await hosts.choose();
      const client = await this.#connectOnce();
      if (!this.isOutdated(client)) return client;
      client.release(true);
    }
  }

  async #connectOnce(): Promise<pg.PoolClient> {
    try {
      return await super.connect();
    } catch (error) {
      const { hosts } = this.#checks;
      hosts.suspect(hosts.current());
      throw unconnected(error);
    }
  }
}

function unconnected(cause: unknown): StorageUnavailable {
  if (cause instanceof StorageUnavailable) return cause;
  return new StorageUnavailable("no connection to the database could be had", { cause });
}

/** The connections of all pools of one database. */
export interface Connections {
  /** The options that pools have in common. */
  readonly options: pg.PoolConfig;
  hostOf(client: pg.ClientBase): PostgresHost | undefined;
  /** Resolves once all connections are closed. */
  allClosed(): Promise<void>;
  /** Breaks all connections, or all but those to one host. */
  destroy(exceptTo?: PostgresHost): void;
}

/**
 * Creates the options of connections to the current host, and tracks the connections. `onSilent` is called with those that
 * do not respond; by default another host is searched.
 */
export function newConnections(
  hosts: Hosts,
  limits: DatabaseLimits,
  onSilent: SilenceListener | undefined = hosts.hasSeveral ? hosts.search : undefined,
): Connections {
  const { lockTimeoutMs, statementTimeoutMs } = limits;
  /** Includes those that a pool is opening or closing and no longer knows. */
  const clients = new Map<Socket, Client>();
  const stopWatch = onSilent ? watchSilence(() => clients.values(), onSilent) : () => {};

  function track(client: Client): void {
    clients.set(client.socket, client);
    client.socket.once("close", () => clients.delete(client.socket));
  }

  return {
    options: {
      Client: clientClass(hosts, limits, track) as unknown as NonNullable<pg.PoolConfig["Client"]>,
      // Sends statements without waiting for the response of the one before.
      pipeline: true,
      // How long to wait for a connection in use, like for any other lock.
      connectionTimeoutMillis: lockTimeoutMs,
      // Without a limit for the statement there is none for its response.
      query_timeout: statementTimeoutMs === 0 ? 0 : statementTimeoutMs + answerMarginMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveDelayMs,
      application_name: applicationName,
    },
    hostOf: (client) => (client as Client).databaseHost,
    async allClosed() {
      stopWatch();
      await Promise.all([...clients.keys()].map((socket) => new Promise((closed) => socket.once("close", closed))));
    },
    destroy(exceptTo) {
      for (const [socket, { databaseHost }] of clients) if (databaseHost !== exceptTo) socket.destroy();
    },
  };
}

/** A connection to the host that was the current one when it was opened. */
interface Client extends pg.ClientBase, WatchedConnection {
  readonly databaseHost: PostgresHost;
}

function clientClass(
  hosts: Hosts,
  { connectTimeoutMs, sharesSessions }: DatabaseLimits,
  onCreated: (client: Client) => void,
): new (
  options: pg.ClientConfig,
) => Client {
  return class extends pg.Client implements Client {
    readonly databaseHost: PostgresHost;
    readonly socket: Socket;
    isBusy = false;

    constructor(options: pg.ClientConfig) {
      const databaseHost = hosts.current();
      const socket = new Socket();
      super({
        ...options,
        connectionString: databaseHost.url,
        connectionTimeoutMillis: connectTimeoutMs,
        stream: () => socket,
      });
      this.databaseHost = databaseHost;
      this.socket = socket;
      // Also reports that the server shuts down: it ends the connection then.
      this.on("error", () => hosts.suspect(databaseHost));
      this.on("drain", () => {
        this.isBusy = false;
      });
      onCreated(this);
    }

    override query: pg.Client["query"] = (statement: unknown, ...rest: unknown[]) => {
      this.isBusy = true;
      return super.query((sharesSessions ? unnamed(statement) : statement) as never, ...(rest as never[])) as never;
    };
  };
}

/** Removes the name of a statement: a transaction pooler may give the next transaction a session that lacks it. */
function unnamed(statement: unknown): unknown {
  const isNamed = typeof statement === "object" && statement !== null && "name" in statement;
  return isNamed ? { ...statement, name: undefined } : statement;
}
