// Databases that are migrated already: copying one is faster than migrating one.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { once } from "../../src/base/lazy.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../src/storage/engine/dialect.ts";
import { newPostgresDatabase } from "./postgres.ts";

/** The name of the database file in a data directory. */
const fileName = "gatehouse.db";

const sqliteTemplate = once(async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "gatehouse-template-"));
  const file = path.join(directory, fileName);
  await migrate(file);
  const bytes = readFileSync(file);
  rmSync(directory, { recursive: true });
  return bytes;
});

/** Puts a migrated database file into a data directory. */
export async function writeMigratedFile(dataDir: string): Promise<void> {
  writeFileSync(path.join(dataDir, fileName), await sqliteTemplate(), { mode: 0o600 });
}

/** The URL of a new, migrated database. */
export async function newMigratedDatabase(): Promise<string> {
  return await newPostgresDatabase(migrate);
}

async function migrate(url: string): Promise<void> {
  await (await openDatabase(url, defaultDatabaseLimits)).close();
}
