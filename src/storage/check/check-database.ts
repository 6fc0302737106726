// Checks redundant data: entries and counters against the rows, and references against their targets.
import type { PgTable } from "drizzle-orm/pg-core";
import type { CollectionTables } from "../collection/collection.ts";
import { deleteEntries, insertEntries } from "../collection/entries.ts";
import { setCounter } from "../engine/counters.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { missingCounters, wrongCounters } from "./counter-check.ts";
import { countAllRows, missingEntries, strayEntries } from "./entry-check.ts";
import { danglingReferences } from "./reference-check.ts";

/** A check stops after this many findings: nobody reads more than a thousand. */
const maxFindings = 1000;

/** The result of a check. */
export interface CheckResult {
  /** How many rows were checked. */
  readonly rows: number;
  /** One sentence per inconsistency. */
  readonly findings: readonly string[];
  /** Whether the check stopped at the maximum number of findings. */
  readonly truncated: boolean;
}

/**
 * Compares the entries, counters and references of the collections with their rows.
 *
 * The session should be that of one snapshot (`database.read`), or concurrent writes look like inconsistencies. Memory
 * does not grow with the database.
 */
export async function checkDatabase(session: Session, collections: readonly CollectionTables[]): Promise<CheckResult> {
  const findings: string[] = [];
  let rows = 0;
  for (const collection of collections) {
    rows += await countAllRows(session, collection);
    for await (const finding of findingsOf(session, collection)) {
      if (findings.length === maxFindings) return { rows, findings, truncated: true };
      findings.push(finding);
    }
  }
  return { rows, findings, truncated: false };
}

/**
 * Repairs entries, counters and derived tables that differ from the rows. Returns how many differed. Rows are not
 * changed, so a dangling reference stays. Blocks writes to the checked tables until the transaction ends.
 */
export async function repairDatabase(tx: Transaction, collections: readonly CollectionTables[]): Promise<number> {
  // Locks first: repairs follow from rows that were read before.
  await tx.lockTables([...collections.flatMap((collection) => tablesOf(tx, collection)), tx.tables.counters]);
  let repaired = 0;
  for (const collection of collections) {
    for await (const entry of strayEntries(tx, collection)) {
      await deleteEntries(tx, collection, [entry.key], entry);
      repaired++;
    }
    for await (const entry of missingEntries(tx, collection, 0)) {
      await insertEntries(tx, collection, [entry.key], entry);
      repaired++;
    }
    for await (const key of missingCounters(tx, collection)) await setCounter(tx, key, collection.kind, 0);
    for await (const { key, actual } of wrongCounters(tx, collection)) {
      await setCounter(tx, key, collection.kind, actual);
      repaired++;
    }
    repaired += (await collection.derived?.repair(tx)) ?? 0;
  }
  return repaired;
}

function tablesOf({ tables }: Session, { rows, entries, derived }: CollectionTables): PgTable[] {
  return [rows(tables), entries(tables), ...(derived?.tables(tables) ?? [])];
}

async function* findingsOf(session: Session, collection: CollectionTables): AsyncGenerator<string> {
  const { kind } = collection;
  for await (const { uid, column, value } of danglingReferences(session, collection)) {
    yield `${kind} ${uid}: its ${column} ${value} does not exist`;
  }
  let strays = 0;
  for await (const { uid, key } of strayEntries(session, collection)) {
    strays++;
    yield `${kind} ${uid}: an entry under ${key} does not belong to the row`;
  }
  for await (const { uid, key } of missingEntries(session, collection, strays)) {
    yield `${kind} ${uid}: the entry under ${key} is missing`;
  }
  for await (const { key, stored, actual } of wrongCounters(session, collection)) {
    yield `${kind}: the counter of ${key} is ${stored}, but there are ${actual} rows`;
  }
  for await (const key of missingCounters(session, collection)) yield `${kind}: the counter of ${key} is missing`;
  if (collection.derived) yield* collection.derived.findings(session);
}
