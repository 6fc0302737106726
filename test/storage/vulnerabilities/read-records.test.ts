// Records are read in portions, because they are large.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { insertRow } from "../../../src/storage/collection/rows.ts";
import { insertRecord, readRecords } from "../../../src/storage/vulnerabilities/records.ts";
import { groupRow, groups, write } from "../fixtures.ts";
import { openSqliteStore } from "../stores.ts";
import { recordRow } from "./record-rows.ts";

const group = groupRow(null, "group");

describe("records that are read by their ids", () => {
  for (const [title, size] of [
    ["small", 10],
    ["large", 200_000],
  ] as const)
    it(`each of 45 ${title} records is read once`, async () => {
      await using store = await openSqliteStore();
      const ids = await write(store.database, async (tx) => {
        await insertRow(tx, groups, group);
        const inserted: number[] = [];
        for (let i = 0; i < 45; i++) inserted.push(await insertRecord(tx, recordRow(group.uid, i, size)));
        return inserted;
      });
      const read: number[] = [];
      const wanted = ids.map((id) => ({ id, size }));
      for await (const { id } of readRecords(store.database.session, wanted)) read.push(id);
      assert.deepEqual(
        read.toSorted((a, b) => a - b),
        ids,
      );
    });
});
