// A database per test, and ways to change it behind the program's back.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import BetterSqlite from "better-sqlite3";
import { getTableName } from "drizzle-orm";
import pg from "pg";
import { type Database, openDatabase } from "../../src/storage/database.ts";
import { type DatabaseLimits, defaultDatabaseLimits } from "../../src/storage/engine/dialect.ts";
import { postgresTables } from "../../src/storage/schema/tables.postgres.ts";
import { writeMigratedFile } from "../harness/migrated.ts";
import { newPostgresDatabase } from "../harness/postgres.ts";
import type { DatabaseKind } from "../harness/server.ts";

/** The database of one test. */
export interface Store extends AsyncDisposable {
  readonly url: string;
  readonly database: Database;
  /** The table of applied migrations. */
  readonly migrationsTable: string;
  /** A boolean in the SQL of this database. */
  readonly no: string;
  /** Opens the same database again, as another node does; closes with the store. */
  open(limits?: Partial<DatabaseLimits>): Promise<Database>;
  /** Closes all handles before the store closes. */
  closeHandles(): Promise<void>;
  /** Runs SQL on a separate connection that does not enforce foreign keys. */
  tamper(statement: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

export type OpenStore = () => Promise<Store>;

/** Returns a store on a SQLite file. */
export async function openSqliteStore(): Promise<Store> {
  const directory = mkdtempSync(path.join(tmpdir(), "gatehouse-storage-"));
  const data = path.join(directory, "data");
  mkdirSync(data);
  await writeMigratedFile(data);
  const file = path.join(data, "gatehouse.db");
  const handles = openHandles(file);
  const database = await handles.open();
  const raw = new BetterSqlite(file);
  raw.pragma("foreign_keys = OFF");
  return {
    url: file,
    database,
    migrationsTable: "__drizzle_migrations",
    no: "0",
    open: handles.open,
    closeHandles: handles.close,
    async tamper(statement) {
      const prepared = raw.prepare<[], Record<string, unknown>>(statement);
      if (prepared.reader) return prepared.all();
      prepared.run();
      return [];
    },
    async [Symbol.asyncDispose]() {
      raw.close();
      await handles.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Databases that were emptied for reuse: creating one takes longer than most tests. */
const freeUrls: string[] = [];

/** Opens a store on a PostgreSQL database with a language collation, unlike its tables. A database that was used before keeps its statistics. */
export async function openPostgresStore(newUrl?: string): Promise<Store> {
  const url = newUrl ?? freeUrls.pop() ?? (await newPostgresUrl());
  const handles = openHandles(url);
  const database = await handles.open();
  const raw = new pg.Client({ connectionString: url });
  await raw.connect();
  await raw.query("SET session_replication_role = replica");
  return {
    url,
    database,
    migrationsTable: "__drizzle_migrations",
    no: "false",
    open: handles.open,
    closeHandles: handles.close,
    tamper: async (statement) => (await raw.query<Record<string, unknown>>(statement)).rows,
    async [Symbol.asyncDispose]() {
      await handles.close();
      await raw.query(
        Object.values(postgresTables)
          .map((table) => `DELETE FROM ${getTableName(table)};`)
          .join(" "),
      );
      await raw.end();
      freeUrls.push(url);
    },
  };
}

/** Opens a store by its kind of database. */
export const storeOpeners: Readonly<Record<DatabaseKind, OpenStore>> = {
  sqlite: openSqliteStore,
  postgres: openPostgresStore,
};

let server: Promise<string> | undefined;
let databases = 0;

/** Returns the URL of a new, empty database with a language collation. */
export async function newPostgresUrl(): Promise<string> {
  server ??= newPostgresDatabase();
  const url = new URL(await server);
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  url.pathname += `_icu_${databases++}`;
  const name = url.pathname.slice(1);
  await client.query(`CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`);
  // Detects the deadlocks that tests provoke immediately.
  await client.query(`ALTER DATABASE ${name} SET deadlock_timeout = '20ms'`);
  await client.end();
  return url.href;
}

/** Returns all handles on one database, so they can be closed. */
function openHandles(url: string) {
  const opened: Database[] = [];
  return {
    async open(limits: Partial<DatabaseLimits> = {}): Promise<Database> {
      const database = await openDatabase(url, { ...defaultDatabaseLimits, ...limits });
      opened.push(database);
      return database;
    },
    async close(): Promise<void> {
      for (const database of opened.splice(0)) await database.close();
    },
  };
}
