// Runs transactions on pooled connections to PostgreSQL.
import type pg from "pg";
import type { MaybePromise } from "../../../base/maybe-promise.ts";
import type { DatabaseLimits } from "../dialect.ts";
import { driverCode, StorageUnavailable } from "../errors.ts";
import { type Connections, newConnections, Pool } from "./connections.ts";
import { isLostConnection, isStaleStatement } from "./errors.ts";
import type { Hosts } from "./hosts.ts";
import { sessionSettings, transactionSettings } from "./session-settings.ts";
import { newWritability, type Writability, type WritableRow, writableQuery } from "./writability.ts";

/** The code of a write in a read-only transaction (appendix A of the manual). */
const readOnlyCode = "25006";

/** The options of a write transaction. */
export interface WriteOptions<T> {
  /** How long it waits for a lock, in milliseconds; as long as any other transaction if absent. */
  readonly lockTimeoutMs?: number;
  readonly finish?: (result: T) => Promise<unknown>;
}

/**
 * The body of a write transaction. Its first reads are sent together with BEGIN. What changes rows must wait for `begun`:
 * should BEGIN fail, such a statement would commit on its own.
 */
export type WritingBody<T> = (client: pg.PoolClient, begun: Promise<void>) => Promise<T>;

/** A pool that drops connections that no longer respond. */
export interface PostgresPool {
  readonly pool: Pool;
  /** Connections outside of the pool, for statements of many requests. */
  readonly shared: Pick<Pool, "connect" | "isOutdated" | "renew">;
  /** Runs one statement on a connection that no other statement uses meanwhile. */
  single<T>(statement: (client: pg.PoolClient) => MaybePromise<T>): Promise<T>;
  /** Runs the body in a snapshot on one connection. Rejects with StorageUnavailable if the connection is lost. */
  read<T>(body: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  /**
   * Runs the body in a write transaction. The statements that `finish` sends at once are sent together with COMMIT. If the
   * server rejects writes, runs it again on a new connection, if that one accepts them. Rejects with StorageUnavailable
   * if the connection is lost.
   */
  write<T>(body: WritingBody<T>, options?: WriteOptions<T>): Promise<T>;
  /**
   * Rejects with StorageReadOnly if the database is read-only, and with StorageUnavailable without a response within
   * `checkTimeoutMs`.
   */
  check(): Promise<void>;
  /** Closes the pool. Waits for running statements, `closeTimeoutMs` at most. */
  close(): Promise<void>;
}

/** How many connections there may be for single statements: one, and those that do not respond. */
export const maxSharedConnections = 4;

/** Creates the pool; it connects on first use. */
export function openPool(hosts: Hosts, limits: DatabaseLimits): PostgresPool {
  const { checkTimeoutMs, closeTimeoutMs, poolSize } = limits;
  const connections = newConnections(hosts, limits);
  hosts.onChange(() => connections.destroy(hosts.current()));
  const writability = newWritability(async () => {
    hosts.suspect(hosts.current());
    (await pool.connect()).release();
  });
  const options: pg.PoolConfig = {
    ...connections.options,
    onConnect: async (client) => {
      await prepareSession(client, limits);
      await writability.admit(client);
    },
  };
  const checks = { hosts, writability, hostOf: connections.hostOf };
  const pool = new Pool({ ...options, max: poolSize }, checks);
  const shared = new Pool({ ...options, max: maxSharedConnections }, checks);
  return {
    pool,
    shared,
    single: (statement) => inTransaction(pool, async (client) => await statement(client)),
    read: (body) => readSnapshot(pool, limits, body),
    write: (body, { lockTimeoutMs, finish } = {}) => {
      const locks = lockTimeoutMs === undefined ? "" : `; SET LOCAL lock_timeout = ${lockTimeoutMs}`;
      const begin = `BEGIN${beginSettings(limits)}${locks}`;
      return whereWritable(writability, () =>
        inTransaction(pool, (client) => commitWrite(client, begin, body, finish)),
      );
    },
    check: () =>
      within(checkTimeoutMs, checkWritable(pool, writability, checkTimeoutMs), "the database does not answer"),
    close: () => closePools([pool, shared], connections, closeTimeoutMs),
  };
}

/** Sets up a new connection, unless other programs share its session. */
export async function prepareSession(client: pg.ClientBase, limits: DatabaseLimits): Promise<void> {
  if (!limits.sharesSessions) await client.query(sessionSettings(limits));
}

/** Closes pools that have these connections. Waits for running statements, `timeoutMs` at most. */
export async function closePools(pools: readonly Pool[], connections: Connections, timeoutMs: number): Promise<void> {
  const ended = Promise.all(pools.map((pool) => pool.end())).then(() => connections.allClosed());
  await within(timeoutMs, ended, "the connections do not end").catch(() => connections.destroy());
}

/** Runs the body in a snapshot on one connection. Rejects with StorageUnavailable if the connection is lost. */
export async function readSnapshot<T>(
  pool: Pool,
  limits: DatabaseLimits,
  body: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  return await inTransaction(pool, async (client) => {
    // BEGIN takes no round trip of its own: it is sent with the first statement of the body.
    const begun = client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY${beginSettings(limits)}`);
    const [result] = await Promise.all([body(client), begun]);
    await client.query("COMMIT");
    return result;
  });
}

/** Returns the settings to send after BEGIN: a pooler keeps no settings in a session. */
function beginSettings(limits: DatabaseLimits): string {
  return limits.sharesSessions ? `; ${transactionSettings(limits)}` : "";
}

/** Runs a write. If the server rejects it, runs it again on a new connection that accepts writes. */
async function whereWritable<T>(writability: Writability, write: () => Promise<T>): Promise<T> {
  await writability.require();
  try {
    return await write();
  } catch (error) {
    if (driverCode(error) !== readOnlyCode) throw error;
    writability.refused();
    await writability.require();
    return await write();
  }
}

async function checkWritable(pool: Pool, writability: Writability, timeoutMs: number): Promise<void> {
  const { rows } = await pool.query<WritableRow>({ text: writableQuery, query_timeout: timeoutMs } as pg.QueryConfig);
  if (rows[0]?.read_only) writability.refused();
  await writability.require();
}

/**
 * Runs the statements of a whole transaction on one connection, and rolls it back if one of them fails. If that was a prepared
 * statement that cannot run any more, runs them again on a new connection.
 */
async function inTransaction<T>(
  pool: Pool,
  statements: (client: pg.PoolClient) => Promise<T>,
  isRetry = false,
): Promise<T> {
  const client = await pool.connect();
  let isLost = false;
  try {
    return await statements(client);
  } catch (error) {
    // A ROLLBACK would hang on a connection that does not respond. PostgreSQL rolls back when the connection closes.
    isLost = isLostConnection(error) || !(await rollBack(client));
    if (isLost) throw new StorageUnavailable("the connection to the database broke", { cause: error });
    if (isRetry || !isStaleStatement(error)) throw error;
    pool.renew(client);
  } finally {
    client.release(isLost || pool.isOutdated(client));
  }
  return await inTransaction(pool, statements, true);
}

async function commitWrite<T>(
  client: pg.PoolClient,
  begin: string,
  body: WritingBody<T>,
  finish: (result: T) => Promise<unknown> = async () => {},
): Promise<T> {
  const begun = client.query(begin).then(() => {});
  begun.catch(() => {});
  const result = await body(client, begun);
  await begun;
  const finished = finish(result);
  // A statement that could not be sent must keep COMMIT from being sent. This waits for no response.
  await Promise.race([finished, new Promise<void>((resolve) => process.nextTick(resolve))]);
  const committed = client.query("COMMIT");
  committed.catch(() => {});
  // Awaited before COMMIT: one message of the server may settle both, and the error of the failed statement says more than a COMMIT that
  // became a ROLLBACK.
  await finished;
  const { command } = await committed;
  // After a failed statement, PostgreSQL executes COMMIT as ROLLBACK, without an error.
  if (command !== "COMMIT") throw new Error("the transaction went on after one of its statements had failed");
  return result;
}

async function rollBack(client: pg.PoolClient): Promise<boolean> {
  return await client.query("ROLLBACK").then(
    () => true,
    () => false,
  );
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
