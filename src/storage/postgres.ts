// PostgreSQL: a pool, ordinary transactions, statements prepared once per connection.
import { fileURLToPath } from "node:url";
import { drizzle } from "drizzle-orm/node-postgres";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import pg from "pg";
import type { DatabaseLimits, Dialect, DialectTransaction } from "./dialect.ts";
import { driverCode, translateError } from "./errors.ts";
import { refuseNewer } from "./migrations.ts";
import { newSession, type Session } from "./session.ts";
import { postgresTables } from "./tables.postgres.ts";

const migrationsFolder = fileURLToPath(new URL("./migrations/postgres", import.meta.url));

/** Names of the advisory locks; any two constants do. */
const migrationLock = 7_301_001;
const changesLock = 7_301_002;

/** How often a transaction that the database asked to repeat is tried. */
const maxTries = 4;

/** Connects and brings the database up to date. */
export async function openPostgres(url: string, limits: DatabaseLimits): Promise<Dialect> {
  const pool = new pg.Pool({
    connectionString: url,
    max: limits.poolSize,
    connectionTimeoutMillis: limits.lockTimeoutMs,
    statement_timeout: limits.statementTimeoutMs,
    lock_timeout: limits.lockTimeoutMs,
    application_name: "gatehouse",
  });
  // A connection that breaks while idle is replaced at its next use.
  pool.on("error", () => {});
  await migrateUnderLock(pool);
  const sessions = new WeakMap<pg.PoolClient, Session>();
  const poolSession = newSession(drizzle(pool, { casing: "snake_case" }), postgresTables);

  function sessionOf(client: pg.PoolClient): Session {
    let session = sessions.get(client);
    if (!session) {
      session = newSession(drizzle(client, { casing: "snake_case" }), postgresTables);
      sessions.set(client, session);
    }
    return session;
  }

  async function transact<T>(begin: string, body: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let broken = false;
    try {
      await client.query(begin);
      const result = await body(client);
      await client.query("COMMIT");
      return result;
    } catch (error) {
      await client.query("ROLLBACK").catch(() => {
        broken = true;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }

  return {
    name: "postgres",
    session: poolSession,
    read: (body) =>
      translated(() => transact("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", (client) => body(sessionOf(client)))),
    write: (body) =>
      translated(() => retried(() => transact("BEGIN", (client) => body(transactionOf(client, sessionOf(client)))))),
    async check() {
      await pool.query("SELECT 1");
    },
    close: () => pool.end(),
  };
}

function transactionOf(client: pg.PoolClient, session: Session): DialectTransaction {
  return {
    ...session,
    // Sequence numbers are handed out before the commit: without a lock a reader could miss the slower of two writers.
    async lockChanges() {
      await client.query({ name: "gatehouse_lock_changes", text: `SELECT pg_advisory_xact_lock(${changesLock})` });
    },
  };
}

async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const code = driverCode(error);
      if ((code !== "40001" && code !== "40P01") || tries >= maxTries) throw error;
    }
  }
}

async function translated<T>(body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    throw translateError(error);
  }
}

async function migrateUnderLock(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(`SELECT pg_advisory_lock(${migrationLock})`);
    await migrate(drizzle(client, { casing: "snake_case" }), { migrationsFolder });
    const applied = await client.query<{ at: string }>("SELECT max(created_at) AS at FROM drizzle.__drizzle_migrations");
    refuseNewer(migrationsFolder, Number(applied.rows[0]?.at));
  } finally {
    await client.query(`SELECT pg_advisory_unlock(${migrationLock})`).catch(() => {});
    client.release();
  }
}
