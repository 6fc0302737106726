// Copies of whole databases: how rows are read from one database and written to another.
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { CopiedTable } from "../schema/copied-tables.ts";
import { DatabaseUnfinished } from "./errors.ts";

/** The values of a row in the order of its columns: JSON is text, and a boolean is 0 or 1. */
export type CopiedRow = readonly (string | number | null)[];

/** Rows in batches: memory does not grow with the table. */
export type CopiedRows = AsyncIterable<readonly CopiedRow[]>;

/** One snapshot of a database. */
export interface CopySource {
  count(table: CopiedTable): MaybePromise<number>;
  /** Yields the rows in the order of their primary key. */
  rows(table: CopiedTable): CopiedRows;
  /** Returns the last number that the database gave to a row of the table, even if the row is gone; 0 if there is none. */
  lastNumber(table: CopiedTable): MaybePromise<number>;
  /**
   * Copies the whole database into an empty file, with `unfinished` as the value of the setting of unfinished copies, if
   * given (SQLite).
   */
  copyPages?(file: string, progress: CopyProgress, unfinished?: string): Promise<void>;
  close(): MaybePromise<void>;
}

/** A database that is being filled. Nothing of it is visible before the end. */
export interface CopyTarget {
  insert(table: CopiedTable, rows: CopiedRows): Promise<void>;
  /** Sets the last number that the database gave to a row of the table. */
  setLastNumber(table: CopiedTable, last: number): MaybePromise<void>;
}

/** Writes the rows into a target. */
export type Fill = (target: CopyTarget) => Promise<void>;

/** Receives the progress of a copy. */
export interface CopyProgress {
  /** Begins a phase with so many steps, or ends the last one if `what` is empty. */
  begin(what: string, steps: number, unit: "rows" | "percent" | "counts"): Promise<void>;
  advance(steps: number): void;
}

/** The name of the setting of a database that a copy or a restore has not filled completely. */
export const unfinishedSetting = "unfinished_copy";

/** Returns the error of opening a database that the command has not filled completely. */
export function unfinishedError(command: string): DatabaseUnfinished {
  return new DatabaseUnfinished(
    `is not complete: "gatehouse ${command}" has not finished there; run that command again, which starts over`,
  );
}

/** About how many characters a batch has, and how many rows at most. */
export const batchLimits = { characters: 256 * 1024, rows: 2000 };

/** Returns about how many characters a row has. */
export function sizeOf(row: CopiedRow): number {
  let size = 0;
  for (const value of row) size += typeof value === "string" ? value.length : 8;
  return size;
}
