// The statements that the migrations lack for the declared tables.
import { readFileSync } from "node:fs";
import {
  generateDrizzleJson,
  generateMigration,
  generateSQLiteDrizzleJson,
  generateSQLiteMigration,
} from "drizzle-kit/api";
import * as postgres from "../../../src/storage/schema/tables.postgres.ts";
import * as sqlite from "../../../src/storage/schema/tables.sqlite.ts";

/** Returns the statements that the next migration for SQLite would have. */
export async function missingSqliteMigration(): Promise<string[]> {
  const { sqliteTables: _, ...tables } = sqlite;
  const declared = await generateSQLiteDrizzleJson(tables, undefined, "snake_case");
  return await generateSQLiteMigration(latestSnapshot("sqlite"), declared);
}

/** Returns the statements that the next migration for PostgreSQL would have. */
export async function missingPostgresMigration(): Promise<string[]> {
  const { postgresTables: _, ...tables } = postgres;
  const declared = generateDrizzleJson(tables, undefined, undefined, "snake_case");
  return await generateMigration(latestSnapshot("postgres"), declared);
}

function latestSnapshot<T>(dialect: string): T {
  const folder = new URL(`../../../src/storage/schema/migrations/${dialect}/meta/`, import.meta.url);
  const journal = JSON.parse(readFileSync(new URL("_journal.json", folder), "utf8")) as { entries: { idx: number }[] };
  const latest = String(journal.entries.at(-1)!.idx).padStart(4, "0");
  return JSON.parse(readFileSync(new URL(`${latest}_snapshot.json`, folder), "utf8")) as T;
}
