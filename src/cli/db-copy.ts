// Backups and copies of whole databases.

import { existsSync } from "node:fs";
import path from "node:path";
import { systemClock } from "../base/clock.ts";
import type { Config } from "../config/config.ts";
import { toDatabaseUrl } from "../config/database-url.ts";
import { readKeyRing } from "../config/key-ring-file.ts";
import { ConfigError } from "../config/settings.ts";
import { type DatabaseConfig, databaseErrorMessage, limitsOf, placeOf } from "../server/open-database.ts";
import { isPostgresUrl, sqliteFile } from "../storage/database.ts";
import type { CopyProgress } from "../storage/engine/copy.ts";
import { commandDatabaseLimits, type DatabaseLimits } from "../storage/engine/dialect.ts";
import { DatabaseUnfinished, DatabaseVersionMismatch, StorageUnavailable } from "../storage/engine/errors.ts";
import { newEncryption } from "../storage/installation/encryption.ts";
import { type Copied, checkSource, copyToFile, copyToPostgres } from "../storage/transfer/copy-database.ts";
import { claimTarget, releaseTarget, TargetNotEmpty } from "../storage/transfer/target.ts";
import { openProgress, type Progress } from "./client/progress.ts";
import { isSound, opensSecrets } from "./db.ts";
import { CommandFailure } from "./failure.ts";
import { requireNoFile, writeNewFile } from "./new-file.ts";
import { withDatabase } from "./open.ts";
import { note, type Shell } from "./shell.ts";

/** Writes a snapshot of the configured database to a new SQLite file. */
export async function backUp(config: Config, file: string, shell: Shell): Promise<number> {
  requireNoFile(file);
  await requireUsable(config);
  const copied = await explained(`the backup of ${placeOf(config)} to ${file}`, async () => {
    await using progress = openCopyProgress(shell);
    return await writeNewFile(file, (temporary) =>
      copyToFile(config.databaseUrl, temporary, { progress, limits: limitsFor(config) }),
    );
  });
  console.log(`${file}: ${wordsOf(copied)}`);
  return 0;
}

/** Fills the configured database, which must be empty, from a backup. */
export async function restore(config: Config, file: string, shell: Shell): Promise<number> {
  await requireBackup(file, config);
  return await fill({
    from: file,
    source: file,
    target: { ...config, isTarget: true },
    config,
    command: "db restore",
    shell,
  });
}

/** Fills an empty database from the configured one. */
export async function copyTo(config: Config, to: string, shell: Shell): Promise<number> {
  const databaseUrl = parseTarget(to);
  const target = { ...config, databaseUrl, setting: "--to", isTarget: true };
  if (isSamePlace(databaseUrl, config.databaseUrl)) throw new ConfigError("--to: is the database to copy.");
  await requireUsable(config);
  return await fill({ from: config.databaseUrl, source: placeOf(config), target, config, command: "db copy", shell });
}

/** Names the flag in errors instead of the setting. */
function parseTarget(to: string): string {
  try {
    return toDatabaseUrl(to);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.message.replace(/^database-url:/, "--to:"));
  }
}

/** Throws if the file is missing or no backup, before anything is written. */
async function requireBackup(file: string, config: Config): Promise<void> {
  if (!existsSync(file)) throw new CommandFailure(`there is no file ${file}`);
  try {
    await checkSource(file, limitsFor(config));
  } catch (error) {
    const isTold = error instanceof DatabaseVersionMismatch || error instanceof DatabaseUnfinished;
    throw new CommandFailure(`${file} ${isTold ? error.message : `cannot be read: ${databaseErrorMessage(error)}`}`);
  }
}

/** Migrates the database if needed. Throws if it cannot be used. */
async function requireUsable(config: DatabaseConfig): Promise<void> {
  await withDatabase(config, "existing", async () => {});
}

function limitsFor(config: DatabaseConfig): DatabaseLimits {
  return limitsOf(config, commandDatabaseLimits);
}

function isSamePlace(one: string, other: string): boolean {
  if (isPostgresUrl(one) || isPostgresUrl(other)) return one === other;
  return path.resolve(sqliteFile(one)) === path.resolve(sqliteFile(other));
}

interface Filling {
  readonly from: string;
  /** The source's name in messages. */
  readonly source: string;
  readonly target: DatabaseConfig;
  /** Has the keys of the secrets. */
  readonly config: Config;
  readonly command: "db copy" | "db restore";
  readonly shell: Shell;
}

/** The target is marked as incomplete from the beginning until it is checked. */
async function fill(filling: Filling): Promise<number> {
  const { source, target, command, shell } = filling;
  const to = placeOf(target);
  await claim(target, command);
  const copied = await explained(`the copy of ${source} to ${to}`, () => fillTarget(filling));
  if (shell.stderr.isTTY === true) note(shell, "checking counters and indexes");
  return await withDatabase(target, "create", async (database) => {
    if (!(await isSound(database))) {
      console.log(`${to} stays incomplete: run "gatehouse db check --repair" on ${source}, and this command again`);
      return 1;
    }
    const areSecretsOpen = await opensSecrets(database, newEncryption(readKeyRing(filling.config)));
    await releaseTarget(database, command, systemClock());
    console.log(`${to}: ${wordsOf(copied)}`);
    return areSecretsOpen ? 0 : 1;
  });
}

async function fillTarget({ from, target, command, shell }: Filling): Promise<Copied> {
  await using progress = openCopyProgress(shell);
  const options = { progress, limits: limitsFor(target), unfinished: command };
  if (isPostgresUrl(target.databaseUrl)) return await copyToPostgres(from, target.databaseUrl, options);
  const file = sqliteFile(target.databaseUrl);
  const write = async (temporary: string) => {
    const copied = await copyToFile(from, temporary, options);
    // SQLite would apply the log of the replaced file to the new one.
    if (existsSync(`${file}-wal`)) throw new CommandFailure(`${file} is open in another program`);
    return copied;
  };
  return await writeNewFile(file, write, true);
}

async function claim(target: DatabaseConfig, command: string): Promise<void> {
  await withDatabase(target, "create", async (database) => {
    try {
      await claimTarget(database, command, systemClock());
    } catch (error) {
      if (!(error instanceof TargetNotEmpty)) throw error;
      throw new CommandFailure(`${placeOf(target)} ${error.message}`, { hint: "Name an empty or a new database." });
    }
  });
}

/** Adds the failed step to errors of the databases. */
async function explained<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CommandFailure || error instanceof ConfigError) throw error;
    const cause = error instanceof StorageUnavailable ? (error.cause ?? error) : error;
    throw new CommandFailure(`${what} failed: ${databaseErrorMessage(cause)}`);
  }
}

function wordsOf({ tables, rows }: Copied): string {
  return `${rows} rows of ${tables} tables, as many as in the source`;
}

/** Shows the progress on terminals. Disposing of it ends the last bar. */
function openCopyProgress(shell: Shell): CopyProgress & AsyncDisposable {
  let bar: Progress | undefined;
  let startedAt = 0;
  let done = 0;
  let isRate = false;
  return {
    async begin(what, steps, unit) {
      bar?.[Symbol.dispose]();
      [startedAt, done, isRate] = [performance.now(), 0, unit === "rows"];
      bar = await openProgress(shell, what, steps, unit === "percent" ? "percent" : "counts");
    },
    advance(steps) {
      done += steps;
      if (!bar?.isShown) return;
      const rate = Math.round((done * 1000) / Math.max(1, performance.now() - startedAt));
      bar.advance(steps, isRate ? `${rate} rows/s` : undefined);
    },
    async [Symbol.asyncDispose]() {
      bar?.[Symbol.dispose]();
    },
  };
}
