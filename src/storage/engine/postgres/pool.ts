// The connections to PostgreSQL, and how long each of them is waited for: a host that died, a lost entry of an address
// translation or a proxy that hangs says nothing, and nothing but a clock notices.
import { Socket } from "node:net";
import pg from "pg";
import type { DatabaseLimits } from "../dialect.ts";
import { driverCode, isLostConnection, StorageUnavailable } from "../errors.ts";
import { newWritability, type WritableRow, writableQuery } from "./writability.ts";

/** What PostgreSQL calls its sessions. */
export const applicationName = "gatehouse";

/** What PostgreSQL says of a write in a read-only transaction (appendix A of its manual). */
const readOnlyCode = "25006";

/** How much longer than its statement may run an answer is waited for, in milliseconds. */
const answerMarginMs = 1000;

/**
 * What every session is set to: by statements, since PgBouncer refuses connections that bring parameters along.
 *
 * No bitmap scans: PostgreSQL plans a statement without the bounds of its range, and takes any range for a two-hundredth of
 * the table. To read that through a bitmap and sort it then looks cheaper than to walk an index, which has a page after a few
 * rows.
 *
 * Keepalives: nothing else tells PostgreSQL of a client that died without a word. It notices after 10 s + 3 × 5 s, and what
 * the client had locked stays locked until then. Sockets of the file system have no keepalives.
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

/** How long a connection is idle before the system asks whether its other end is there, in milliseconds. */
const keepAliveDelayMs = 10_000;

/** A pool whose connections are given up when they go silent. */
export interface PostgresPool {
  readonly pool: pg.Pool;
  /** Runs the body between BEGIN and COMMIT on one connection. Rejects with StorageUnavailable when that is lost. */
  transact<T>(begin: string, body: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  /** The same for writes. Where the server refuses them, the body runs again on a new connection, if that one accepts them. */
  transactWrite<T>(body: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  /** Rejects with StorageReadOnly when nothing can be written, and when no answer comes by `checkTimeoutMs`. */
  check(): Promise<void>;
  /** Lets what runs end, for `closeTimeoutMs` at most. */
  close(): Promise<void>;
}

type Connected = Parameters<pg.Pool["connect"]>[0];

/**
 * Of a connection that cannot be had it says that the database is not available, whatever the reason: a database that is being
 * renamed, a role that may not log in or an outdated certificate is no fault of the statement, which may be tried again.
 */
class Pool extends pg.Pool {
  readonly writability = newWritability(async () => (await this.connect()).release());

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
      if (!this.writability.isOutdated(client)) return client;
      client.release(true);
    }
  }
}

function unconnected(cause: unknown): StorageUnavailable {
  if (cause instanceof StorageUnavailable) return cause;
  return new StorageUnavailable("no connection to the database could be had", { cause });
}

/** Makes the pool; connections are made when they are needed. */
export function openPool(url: string, limits: DatabaseLimits): PostgresPool {
  const { checkTimeoutMs, closeTimeoutMs } = limits;
  const sockets = newSockets();
  const pool: Pool = new Pool({
    ...connectionOptions(url, limits),
    stream: sockets.open,
    onConnect: async (client) => {
      await client.query(sessionSettings(limits));
      await writability.admit(client);
    },
  });
  const { writability } = pool;
  // A connection that breaks while idle is replaced at its next use; one that breaks in use fails its statement.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return {
    pool,
    transact: (begin, body) => transact(pool, begin, body),
    async transactWrite(body) {
      await writability.require();
      try {
        return await transact(pool, "BEGIN", body);
      } catch (error) {
        if (driverCode(error) !== readOnlyCode) throw error;
        writability.refused();
        await writability.require();
        return await transact(pool, "BEGIN", body);
      }
    },
    check: () => within(checkTimeoutMs, checkWritable(pool, checkTimeoutMs), "the database does not answer"),
    async close() {
      const ended = pool.end().then(() => sockets.allClosed());
      await within(closeTimeoutMs, ended, "the connections do not end").catch(() => sockets.destroy());
    },
  };
}

function connectionOptions(url: string, limits: DatabaseLimits): pg.PoolConfig {
  const { lockTimeoutMs, statementTimeoutMs, poolSize } = limits;
  return {
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: lockTimeoutMs,
    // Without a limit for the statement there is none for the answer.
    query_timeout: statementTimeoutMs === 0 ? 0 : statementTimeoutMs + answerMarginMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
    application_name: applicationName,
  };
}

async function checkWritable(pool: Pool, timeoutMs: number): Promise<void> {
  const { rows } = await pool.query<WritableRow>({ text: writableQuery, query_timeout: timeoutMs } as pg.QueryConfig);
  if (rows[0]?.read_only) pool.writability.refused();
  await pool.writability.require();
}

async function transact<T>(pool: pg.Pool, begin: string, body: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isLost = false;
  try {
    await client.query(begin);
    const result = await body(client);
    const { command } = await client.query("COMMIT");
    // After a failed statement PostgreSQL takes a COMMIT for a ROLLBACK, and says so without an error.
    if (command !== "COMMIT") throw new Error("the transaction went on after one of its statements had failed");
    return result;
  } catch (error) {
    // A connection that went silent would keep the ROLLBACK waiting as well; PostgreSQL rolls back when it is cut.
    isLost = isLostConnection(error) || !(await rollBack(client));
    throw isLost ? new StorageUnavailable("the connection to the database broke", { cause: error }) : error;
  } finally {
    client.release(isLost);
  }
}

async function rollBack(client: pg.PoolClient): Promise<boolean> {
  return await client.query("ROLLBACK").then(
    () => true,
    () => false,
  );
}

/** The sockets of the connections, also of those that are being made or ended, of which the pool knows nothing. */
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

/** Rejects with StorageUnavailable when the promise takes longer; what becomes of it then is nobody's concern. */
async function within<T>(timeoutMs: number, promise: Promise<T>, complaint: string): Promise<T> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new StorageUnavailable(complaint)), timeoutMs);
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}
