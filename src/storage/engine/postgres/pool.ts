// Connections to PostgreSQL, with a timeout for every wait: a dead host, a lost NAT entry or a hanging proxy sends
// nothing, so only a clock notices it.
import { Socket } from "node:net";
import pg from "pg";
import type { DatabaseLimits } from "../dialect.ts";
import { driverCode, StorageUnavailable } from "../errors.ts";
import { isLostConnection } from "./errors.ts";
import { newWritability, type Writability, type WritableRow, writableQuery } from "./writability.ts";

/** The application name of the sessions. */
export const applicationName = "gatehouse";

/** The code of a write in a read-only transaction (appendix A of the manual). */
const readOnlyCode = "25006";

/** How much longer than the statement timeout to wait for a response, in milliseconds. */
const answerMarginMs = 1000;

/**
 * Returns the settings of every session. They are statements, because PgBouncer rejects connections with parameters.
 *
 * No bitmap scans: PostgreSQL plans a statement without the bounds of its range, and estimates any range at 0.5 % of
 * the table. A bitmap scan and a sort then look cheaper than an index scan, which has a page after a few rows.
 *
 * Keepalives: without them PostgreSQL does not notice that a client died, and keeps its locks. With these, it notices
 * after 10 s + 3 × 5 s. Unix sockets have no keepalives.
 */
function sessionSettings({ lockTimeoutMs, statementTimeoutMs, idleInTransactionMs }: DatabaseLimits): string {
  return [
    `SET statement_timeout = ${statementTimeoutMs}`,
    `SET lock_timeout = ${lockTimeoutMs}`,
    `SET idle_in_transaction_session_timeout = ${idleInTransactionMs}`,
    "SET enable_bitmapscan = off",
    "SET tcp_keepalives_idle = 10",
    "SET tcp_keepalives_interval = 5",
    "SET tcp_keepalives_count = 3",
  ].join("; ");
}

/** How long a connection may be idle before the system probes its other end, in milliseconds. */
const keepAliveDelayMs = 10_000;

/** Opens connections that accept reads. */
export interface Connections {
  /** Rejects with StorageUnavailable. Release the connection with `release(true)`. */
  connect(): Promise<pg.PoolClient>;
  /** Whether the connection leads to a server that must no longer be used. */
  isOutdated(client: pg.PoolClient): boolean;
}

/** A pool that drops connections that no longer respond. */
export interface PostgresPool {
  readonly pool: pg.Pool;
  /** Connections outside of the pool, for statements of many requests. */
  readonly shared: Connections;
  /** Runs the body in a snapshot on one connection. Rejects with StorageUnavailable if the connection is lost. */
  read<T>(body: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  /**
   * Runs the body in a write transaction that starts with the statements `begin`. The statements that `finish` sends at once
   * are sent together with COMMIT. If the server rejects writes, runs it again on a new connection, if that one
   * accepts them. Rejects with StorageUnavailable if the connection is lost.
   */
  write<T>(
    begin: string,
    body: (client: pg.PoolClient) => Promise<T>,
    finish?: (result: T) => Promise<void>,
  ): Promise<T>;
  /**
   * Rejects with StorageReadOnly if the database is read-only, and with StorageUnavailable without a response within
   * `checkTimeoutMs`.
   */
  check(): Promise<void>;
  /** Closes the pool. Waits for running statements, `closeTimeoutMs` at most. */
  close(): Promise<void>;
}

type Connected = Parameters<pg.Pool["connect"]>[0];

/**
 * A pool that reports every failed connection as StorageUnavailable: a database that is being renamed, a role without
 * LOGIN or an expired certificate is not the fault of the statement, which may be retried.
 */
class Pool extends pg.Pool {
  readonly #writability: Writability;

  constructor(options: pg.PoolConfig, writability: Writability) {
    super(options);
    this.#writability = writability;
    // A connection that breaks while idle is replaced on next use; one that breaks in use fails its statements.
    this.on("error", () => {});
    this.on("connect", (client) => client.on("error", () => {}));
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

  async #connectUsable(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await super.connect().catch((error) => Promise.reject(unconnected(error)));
      if (!this.#writability.isOutdated(client)) return client;
      client.release(true);
    }
  }
}

function unconnected(cause: unknown): StorageUnavailable {
  if (cause instanceof StorageUnavailable) return cause;
  return new StorageUnavailable("no connection to the database could be had", { cause });
}

/** How many connections there are for statements of many requests. */
const sharedConnections = 1;

/** Creates the pool; it connects on first use. */
export function openPool(url: string, limits: DatabaseLimits): PostgresPool {
  const { checkTimeoutMs, closeTimeoutMs, poolSize } = limits;
  const sockets = newSockets();
  const writability: Writability = newWritability(async () => (await pool.connect()).release());
  const options: pg.PoolConfig = {
    ...connectionOptions(url, limits),
    stream: sockets.open,
    onConnect: async (client) => {
      await client.query(sessionSettings(limits));
      await writability.admit(client);
    },
  };
  const pool: Pool = new Pool({ ...options, max: poolSize }, writability);
  const shared = new Pool({ ...options, max: sharedConnections }, writability);
  return {
    pool,
    shared: { connect: () => shared.connect(), isOutdated: writability.isOutdated },
    read: (body) => inTransaction(pool, (client) => readSnapshot(client, body)),
    async write(begin, body, finish) {
      const write = () => inTransaction(pool, (client) => commitWrite(client, begin, body, finish));
      await writability.require();
      try {
        return await write();
      } catch (error) {
        if (driverCode(error) !== readOnlyCode) throw error;
        writability.refused();
        await writability.require();
        return await write();
      }
    },
    check: () =>
      within(checkTimeoutMs, checkWritable(pool, writability, checkTimeoutMs), "the database does not answer"),
    async close() {
      const ended = Promise.all([pool.end(), shared.end()]).then(() => sockets.allClosed());
      await within(closeTimeoutMs, ended, "the connections do not end").catch(() => sockets.destroy());
    },
  };
}

function connectionOptions(url: string, limits: DatabaseLimits): pg.PoolConfig {
  const { lockTimeoutMs, statementTimeoutMs } = limits;
  return {
    connectionString: url,
    // Sends statements without waiting for the response of the one before.
    pipeline: true,
    connectionTimeoutMillis: lockTimeoutMs,
    // Without a limit for the statement there is none for its response.
    query_timeout: statementTimeoutMs === 0 ? 0 : statementTimeoutMs + answerMarginMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
    application_name: applicationName,
  };
}

async function checkWritable(pool: Pool, writability: Writability, timeoutMs: number): Promise<void> {
  const { rows } = await pool.query<WritableRow>({ text: writableQuery, query_timeout: timeoutMs } as pg.QueryConfig);
  if (rows[0]?.read_only) writability.refused();
  await writability.require();
}

/** Runs the statements of a whole transaction on one connection, and rolls it back if one of them fails. */
async function inTransaction<T>(pool: pg.Pool, statements: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isLost = false;
  try {
    return await statements(client);
  } catch (error) {
    // A ROLLBACK would hang on a connection that does not respond. PostgreSQL rolls back when the connection closes.
    isLost = isLostConnection(error) || !(await rollBack(client));
    throw isLost ? new StorageUnavailable("the connection to the database broke", { cause: error }) : error;
  } finally {
    client.release(isLost);
  }
}

async function commitWrite<T>(
  client: pg.PoolClient,
  begin: string,
  body: (client: pg.PoolClient) => Promise<T>,
  finish: (result: T) => Promise<void> = async () => {},
): Promise<T> {
  // Awaited: should BEGIN fail, the statements sent after it would each commit on their own.
  await client.query(begin);
  const result = await body(client);
  const finished = finish(result);
  const [{ command }] = await Promise.all([client.query("COMMIT"), finished]);
  // After a failed statement, PostgreSQL executes COMMIT as ROLLBACK, without an error.
  if (command !== "COMMIT") throw new Error("the transaction went on after one of its statements had failed");
  return result;
}

async function readSnapshot<T>(client: pg.PoolClient, body: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  // Sent together with the first statement of the body.
  const begun = client.query("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
  const [result] = await Promise.all([body(client), begun]);
  await client.query("COMMIT");
  return result;
}

async function rollBack(client: pg.PoolClient): Promise<boolean> {
  return await client.query("ROLLBACK").then(
    () => true,
    () => false,
  );
}

/** The sockets of all connections, including those that the pool is opening or closing and no longer knows. */
function newSockets() {
  const sockets = new Set<Socket>();
  return {
    open(): Socket {
      const socket = new Socket();
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      return socket;
    },
    async allClosed(): Promise<void> {
      await Promise.all([...sockets].map((socket) => new Promise((closed) => socket.once("close", closed))));
    },
    destroy(): void {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Rejects with StorageUnavailable if the promise takes longer; its later result is ignored. */
async function within<T>(timeoutMs: number, promise: Promise<T>, complaint: string): Promise<T> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new StorageUnavailable(complaint)), timeoutMs);
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}
