// Damages a SQLite file as a failing disk does.
import { closeSync, openSync, writeSync } from "node:fs";
import BetterSqlite from "better-sqlite3";

/** Invalid as a page of a table, an index or a header. */
const noise = Buffer.alloc(4096, 0xa5);

/** Overwrites one page, counted from 1. */
export function damagePage(file: string, page: number): void {
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, noise, 0, noise.length, (page - 1) * noise.length);
  closeSync(descriptor);
}

/** Overwrites the first page of a table or an index, in a file that is not open. */
export function damageTable(file: string, name: string): void {
  const connection = new BetterSqlite(file);
  const root = connection.prepare("SELECT rootpage FROM sqlite_master WHERE name = ?").pluck().get(name) as number;
  connection.close();
  damagePage(file, root);
}
