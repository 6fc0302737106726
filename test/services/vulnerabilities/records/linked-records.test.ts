// The number of records from which one advisory is derived.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ApiError } from "../../../../src/aip/errors.ts";
import { advisoryLimits } from "../../../../src/services/vulnerabilities/limits.ts";
import { newRecordReader } from "../../../../src/services/vulnerabilities/records/linked-records.ts";
import { insertRow } from "../../../../src/storage/collection/rows.ts";
import { insertRecord, insertRecordLink } from "../../../../src/storage/vulnerabilities/records.ts";
import { groupRow, groups, write } from "../../../storage/fixtures.ts";
import { openSqliteStore } from "../../../storage/stores.ts";
import { recordRow } from "../../../storage/vulnerabilities/record-rows.ts";

describe("the records of one advisory", () => {
  it("as many as the limit are read, and one more is an error", async () => {
    await using store = await openSqliteStore();
    const group = groupRow(null, "group");
    const advisory = `${group.uid}/advisory`;
    const link = (from: number, to: number) =>
      write(store.database, async (tx) => {
        for (let i = from; i < to; i++)
          await insertRecordLink(tx, advisory, await insertRecord(tx, recordRow(group.uid, i, 10)));
      });
    await write(store.database, (tx) => insertRow(tx, groups, group));
    await link(0, advisoryLimits.records);
    const { session } = store.database;
    assert.equal((await newRecordReader(session).of(advisory)).length, advisoryLimits.records);
    await link(advisoryLimits.records, advisoryLimits.records + 1);
    await assert.rejects(newRecordReader(session).of(advisory), (error) => {
      assert.ok(error instanceof ApiError);
      assert.match(error.message, /an advisory may have at most 1000 records/);
      return true;
    });
  });
});
