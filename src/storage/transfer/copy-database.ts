// Copies whole databases, from SQLite or PostgreSQL to either of them (docs/decisions/0062).
import { isPostgresUrl, sqliteFile } from "../database.ts";
import {
  type CopiedRow,
  type CopiedRows,
  type CopyProgress,
  type CopySource,
  type Fill,
  unfinishedError,
  unfinishedSetting,
} from "../engine/copy.ts";
import type { DatabaseLimits } from "../engine/dialect.ts";
import { type CopiedTable, copiedTables } from "../schema/copied-tables.ts";

/** The numbers of copied tables and rows. */
export interface Copied {
  readonly tables: number;
  readonly rows: number;
}

/** Options of a copy. */
export interface CopyOptions {
  /** Of both databases. */
  readonly limits: DatabaseLimits;
  readonly progress: CopyProgress;
  /** The name of the command, to be named in the copy until `releaseTarget`; none if absent. */
  readonly unfinished?: string;
}

/** Copies one snapshot of a database to an existing, empty file. A failure leaves the file incomplete. */
export async function copyToFile(from: string, file: string, options: CopyOptions): Promise<Copied> {
  const { progress, unfinished } = options;
  await using source = await openSource(from, options.limits);
  if (source.copyPages) {
    await source.copyPages(file, progress, unfinished);
  } else {
    const { fillSqlite } = await import("../engine/sqlite/copy-target.ts");
    await fillSqlite(file, progress, rowsOf(source, options));
  }
  return await compareCounts(source, file, options);
}

/** Replaces everything in a PostgreSQL database by one snapshot of another database. A failure changes nothing. */
export async function copyToPostgres(from: string, url: string, options: CopyOptions): Promise<Copied> {
  await using source = await openSource(from, options.limits);
  const { fillPostgres } = await import("../engine/postgres/copy-target.ts");
  await fillPostgres(url, options.limits, copiedTables(), options.progress, rowsOf(source, options));
  return await compareCounts(source, url, options);
}

/** Throws DatabaseVersionMismatch and DatabaseUnfinished, and the errors of a driver, for what cannot be copied. */
export async function checkSource(url: string, limits: DatabaseLimits): Promise<void> {
  await using source = await openSource(url, limits);
  await requireFinished(source);
}

type OpenSource = CopySource & AsyncDisposable;

async function openSource(url: string, limits: DatabaseLimits): Promise<OpenSource> {
  const source = isPostgresUrl(url)
    ? await (await import("../engine/postgres/copy-source.ts")).openPostgresSource(url, limits)
    : (await import("../engine/sqlite/copy-source.ts")).openSqliteSource(sqliteFile(url), limits);
  return { ...source, [Symbol.asyncDispose]: async () => source.close() };
}

/** Throws DatabaseUnfinished for a source that is itself an unfinished copy. */
async function requireFinished(source: CopySource): Promise<void> {
  const settings = copiedTables().find(isSettings)!;
  const [name, value] = [settings.columns.indexOf("name"), settings.columns.indexOf("value")];
  for await (const rows of source.rows(settings)) {
    const mark = rows.find((row) => row[name] === unfinishedSetting);
    if (mark) throw unfinishedError(String(mark[value]));
  }
}

function isSettings({ name }: CopiedTable): boolean {
  return name === "settings";
}

function rowsOf(source: CopySource, { progress, unfinished }: CopyOptions): Fill {
  return async (target) => {
    const counts = await countsOf(source);
    await progress.begin("copying", sumOf(counts), "rows");
    for (const table of copiedTables()) {
      const marker = isSettings(table) && unfinished !== undefined ? [[unfinishedSetting, unfinished]] : [];
      await target.insert(table, withProgress(source.rows(table), marker, progress));
      if (table.sequence !== undefined) await target.setLastNumber(table, await source.lastNumber(table));
    }
  };
}

async function* withProgress(rows: CopiedRows, further: readonly CopiedRow[], progress: CopyProgress): CopiedRows {
  for await (const batch of rows) {
    yield batch;
    progress.advance(batch.length);
  }
  if (further.length > 0) yield further;
}

async function countsOf(source: CopySource): Promise<ReadonlyMap<CopiedTable, number>> {
  const counts = new Map<CopiedTable, number>();
  for (const table of copiedTables()) counts.set(table, await source.count(table));
  return counts;
}

function sumOf(counts: ReadonlyMap<CopiedTable, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/** Compares the number of rows of each table in the snapshot and in its copy. */
async function compareCounts(source: CopySource, to: string, { limits, unfinished }: CopyOptions): Promise<Copied> {
  await using target = await openSource(to, limits);
  const [expected, found] = [await countsOf(source), await countsOf(target)];
  for (const [table, count] of expected) {
    const wanted = isSettings(table) && unfinished !== undefined ? count + 1 : count;
    if (found.get(table) !== wanted)
      throw new Error(`${table.name} has ${found.get(table)} rows in the copy, but ${wanted} were expected`);
  }
  return { tables: expected.size, rows: sumOf(expected) };
}
