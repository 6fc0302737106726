// PostgreSQL: a pool, one shared connection for single reads, and statements that are prepared once per connection.
import type pg from "pg";
import { loadPostgresDriver } from "../../schema/drizzle.ts";
import type { DatabaseHooks, DatabaseLimits, Dialect } from "../dialect.ts";
import { isWriteStatement, newStatementDurations, type PoolUse, type StatementDurations } from "../measurements.ts";
import type { OpenMode } from "../migrations.ts";
import { newSession, type Prepared, type Session, type TermTime } from "../session.ts";
import { newDataVersion } from "./data-version.ts";
import { postgresDialect } from "./dialect.ts";
import { translatePostgresError } from "./errors.ts";
import { newHosts } from "./hosts.ts";
import { migratePostgres } from "./migrate.ts";
import { openPool } from "./pool.ts";
import { openReplicas } from "./replicas.ts";
import { newSharedSession } from "./shared-session.ts";
import { logLocksOf } from "./transaction.ts";
import { newWriter } from "./writer.ts";

const { drizzle } = loadPostgresDriver();

/**
 * Connects, and migrates the database. `onMigrated` is called if migrations were applied. `replicaUrl` names standbys that
 * may serve reads.
 */
export async function openPostgres(
  url: string,
  limits: DatabaseLimits,
  mode: OpenMode,
  { onMigrated, onNewHistory, log }: DatabaseHooks,
  { termTime, replicaUrl }: TermTime & { readonly replicaUrl?: string | undefined },
): Promise<Dialect> {
  const hosts = newHosts(url, limits);
  const schema = await migratePostgres({ hosts, limits }, mode, onMigrated);
  const pool = openPool(hosts, limits);
  const sessions = new WeakMap<pg.PoolClient, Session>();
  const [statements, dialect] = [newStatementDurations(), { ...postgresDialect, termTime }];

  function sessionOf(client: pg.PoolClient): Session {
    let session = sessions.get(client);
    if (!session) {
      const queries = drizzle(client, { casing: "snake_case" });
      session = newSession(queries, dialect, (one) => runAsync(one, statements));
      sessions.set(client, session);
    }
    return session;
  }

  const writer = newWriter(pool, sessionOf, limits, log, logLocksOf(schema));
  const opened = newSharedSession(pool.shared, dialect, sessionOf, () => {
    version.forget();
    replicas?.forget();
  });
  const version = newDataVersion(opened.session, onNewHistory);
  const read: Dialect["read"] = (body) => pool.read((client) => body(sessionOf(client)));
  const replicas = openReplicas(replicaUrl, limits, { sessionOf, read, version, pool: pool.pool });
  // Reports connection errors now, when the database is opened.
  const closeAll = () => Promise.all([pool.close(), replicas?.close()]);
  await opened.open().catch(async (error) => {
    await closeAll();
    throw error;
  });

  return {
    name: "postgres",
    session: { ...opened.session, dataVersion: version.current },
    isolatedSession: {
      ...dialect,
      prepared: (key, build) => ({
        execute: (values) => pool.single((client) => sessionOf(client).prepared(key, build).execute(values)),
      }),
    },
    read,
    ...(replicas && { readLogged: replicas.read, replicas: replicas.status }),
    ...writer,
    measurements: { statements, pool: () => useOf(pool.pool) },
    check: pool.check,
    onHostChanged: (listener) => hosts.onChange(() => listener(hosts.current().name)),
    async close() {
      await writer.idle();
      opened.release();
      await closeAll();
    },
  };
}

function useOf({ totalCount, idleCount, waitingCount, options }: pg.Pool): PoolUse {
  return { used: totalCount - idleCount, idle: idleCount, max: options.max, pending: waitingCount };
}

/** Wraps a statement of node-postgres: measures it, and translates its errors. */
function runAsync<T>(statement: Prepared<T>, durations: StatementDurations): Prepared<T> {
  const isWrite = isWriteStatement((statement as unknown as { getQuery(): { sql: string } }).getQuery().sql);
  const measured = isWrite ? durations.write : durations.read;
  return {
    isWrite,
    async execute(values) {
      const startedAt = performance.now();
      try {
        return await statement.execute(values);
      } catch (error) {
        throw translatePostgresError(error);
      } finally {
        measured.recordSince(startedAt);
      }
    },
  };
}
