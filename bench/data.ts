// Generated data directories, kept between runs: the same seed, sizes and programs give the same data.
import { hash } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import BetterSqlite from "better-sqlite3";
import { onceLoaded } from "../src/base/lazy.ts";
import { readKeyRing } from "../src/config/key-ring-file.ts";
import { generate, landmarksFile } from "./generate.ts";
import type { Landmarks } from "./population.ts";

/** A data directory and what is in it. */
export interface Data {
  readonly directory: string;
  readonly landmarks: Landmarks;
}

/** The directory of generated data, and the report of progress. */
export interface DataStore {
  readonly directory: string;
  report(text: string): void;
}

const seed = "gatehouse";
/** The tables that the population fills. */
const sampleTables = [
  "groups",
  "identities",
  "role_bindings",
  "counters",
  "group_entries",
  "identity_entries",
  "role_binding_entries",
];
const migrations = fileURLToPath(new URL("../src/storage/schema/migrations/sqlite/", import.meta.url));

/** Returns the data directory with so many groups; generated when it is not there. */
export async function prepareData(groups: number, store: DataStore): Promise<Data> {
  return await prepareDataAt(String(groups), groups, store);
}

/** The same in a directory of its own, for what else is to be in it. */
export async function prepareDataAt(
  name: string,
  groups: number,
  { directory: kept, report }: DataStore,
  furtherSources: readonly string[] = [],
): Promise<Data> {
  const directory = path.join(kept, `${name}-${await dataVersion(furtherSources)}`);
  if (!existsSync(landmarksFile(directory))) {
    forgetOthers(kept, name);
    report(`generating ${groups} groups in ${directory}`);
    await generate(directory, { groups, seed }, (rows) => {
      if (rows % (groups / 5) === 0) report(`  ${rows} rows`);
    });
  }
  // All copies of the directory, also those of servers on PostgreSQL, then encrypt with the same key.
  readKeyRing({ dev: true, dataDir: directory, secretsKeys: [] });
  return { directory, landmarks: JSON.parse(readFileSync(landmarksFile(directory), "utf8")) as Landmarks };
}

/** Returns a copy that may be written to, until it is disposed of; without the database for a server that uses another one. */
export function copyData({ directory, landmarks }: Data, hasDatabase = true): Data & Disposable {
  const copy = mkdtempSync(path.join(tmpdir(), "gatehouse-bench-copy-"));
  const filter = (file: string) => hasDatabase || !path.basename(file).startsWith("gatehouse.db");
  cpSync(directory, copy, { recursive: true, filter });
  return {
    directory: copy,
    landmarks,
    [Symbol.dispose]: () => rmSync(copy, { recursive: true, force: true }),
  };
}

/** Changes with the schema, the population and the rows that are made of it. The names of further sources are relative to this folder. */
export async function dataVersion(furtherSources: readonly string[] = []): Promise<string> {
  const files = [
    ...["population.ts", ...furtherSources].map((source) => fileURLToPath(new URL(source, import.meta.url))),
    ...readdirSync(migrations)
      .filter((name) => name.endsWith(".sql"))
      .sort()
      .map((name) => path.join(migrations, name)),
  ];
  const texts = files.map((file) => readFileSync(file, "utf8"));
  return hash("sha256", [...texts, await sampleRows()].join("\0"), "hex").slice(0, 12);
}

/** The rows of a small installation, as text. Other code that writes the same rows does not make large data useless. */
const sampleRows = onceLoaded(async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "gatehouse-bench-sample-"));
  try {
    await generate(directory, { groups: 100, seed }, () => {});
    const connection = new BetterSqlite(path.join(directory, "gatehouse.db"), { readonly: true });
    const rows = sampleTables.map((table) => connection.prepare(`SELECT * FROM ${table} ORDER BY 1, 2, 3`).raw().all());
    connection.close();
    return JSON.stringify(rows);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

/** Removes data of this name that another version made, and what an interrupted run left; not the directory `used`. */
export function forgetOthers(kept: string, name: string, used?: string): void {
  if (!existsSync(kept)) return;
  for (const other of readdirSync(kept).filter((entry) => entry.startsWith(`${name}-`) && entry !== used))
    rmSync(path.join(kept, other), { recursive: true, force: true });
}
