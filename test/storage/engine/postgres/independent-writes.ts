import assert from "node:assert/strict";
import { insertRow, keepRow } from "../../../../src/storage/collection/rows.ts";
import type { Database } from "../../../../src/storage/database.ts";
import { context, type GroupRow, groups } from "../../fixtures.ts";

/** Creates a group as its service does: it decides nothing by rows that it does not find. */
export function createIndependently(database: Database, row: GroupRow): Promise<void> {
  return database.write({ ...context, isIndependent: true }, async (tx) => {
    assert.ok(await keepRow(tx, groups, row.parent!));
    await insertRow(tx, groups, row);
  });
}
