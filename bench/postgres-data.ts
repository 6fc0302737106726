// PostgreSQL with the generated groups, kept between runs: one cluster, with a database for each size.
import { chownSync, mkdirSync } from "node:fs";
import path from "node:path";
import { openDatabase } from "../src/storage/database.ts";
import { commandDatabaseLimits, defaultDatabaseLimits } from "../src/storage/engine/dialect.ts";
import { copyToPostgres } from "../src/storage/transfer/copy-database.ts";
import { debianPostgres } from "../test/harness/debian-postgres.ts";
import { unprivileged } from "../test/harness/postgres.ts";
import { type Data, type DataStore, dataVersion, forgetOthers } from "./data.ts";
import { type Postgres, preparePgbench, startPostgres } from "./postgres.ts";
import type { Cores } from "./server-process.ts";
import { sizeName } from "./sizes.ts";

const limits = { ...defaultDatabaseLimits, ...commandDatabaseLimits };

/** Starts the cluster, and fills what it does not have yet: the groups of each size and the tables of pgbench. */
export async function startFilledPostgres(data: readonly Data[], store: DataStore, cores: Cores): Promise<Postgres> {
  const postgres = await startPostgres(await directoryOf(store), cores);
  try {
    if (!(await hasDatabase(postgres, "pgbench"))) await fill(postgres, "pgbench", preparePgbench);
    for (const each of data) {
      const name = databaseOf(each);
      if (await hasDatabase(postgres, name)) continue;
      store.report(`copying ${each.landmarks.groups} groups to PostgreSQL`);
      await fill(postgres, name, (url) => copyGroups(each, url));
    }
    return postgres;
  } catch (error) {
    await postgres[Symbol.asyncDispose]();
    throw error;
  }
}

/** Returns the name of the database that has the same rows. */
export function databaseOf({ landmarks }: Data): string {
  return `groups_${sizeName(landmarks.groups).toLowerCase()}`;
}

/** Creates a copy that may be written to, in place of the last one of that name. */
export async function copyDatabase(postgres: Postgres, data: Data, name: string): Promise<string> {
  await postgres.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await postgres.query(`CREATE DATABASE ${name} TEMPLATE ${databaseOf(data)}`);
  return postgres.url(name);
}

/** Returns the directory of the cluster, which only the server program of the same version reads. */
async function directoryOf({ directory: kept }: DataStore): Promise<string> {
  const [version = ""] = debianPostgres?.split(path.sep).slice(-2) ?? [];
  const name = `postgres${version}-${await dataVersion()}`;
  const directory = path.join(kept, name);
  forgetOthers(kept, `postgres${version}`, name);
  mkdirSync(directory, { recursive: true });
  if (unprivileged.uid !== undefined) chownSync(directory, unprivileged.uid, unprivileged.gid);
  return directory;
}

async function hasDatabase({ query }: Postgres, name: string): Promise<boolean> {
  return (await query(`SELECT 1 FROM pg_database WHERE datname = '${name}'`)).length > 0;
}

/** Fills a database under another name, which an interrupted run leaves behind. */
async function fill({ query, url }: Postgres, name: string, body: (url: string) => Promise<void>): Promise<void> {
  const unfinished = `${name}_unfinished`;
  await query(`DROP DATABASE IF EXISTS ${unfinished}`);
  await query(`CREATE DATABASE ${unfinished}`);
  await body(url(unfinished));
  // A checkpoint puts all writes on disk before the measurement.
  await query("CHECKPOINT");
  await query(`ALTER DATABASE ${unfinished} RENAME TO ${name}`);
}

async function copyGroups({ directory }: Data, url: string): Promise<void> {
  await (await openDatabase(url, defaultDatabaseLimits)).close();
  const progress = { begin: async () => {}, advance() {} };
  await copyToPostgres(path.join(directory, "gatehouse.db"), url, { limits, progress });
}
