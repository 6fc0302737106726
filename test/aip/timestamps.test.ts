import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findUtcTime, fromTimestamp, toTimestamp } from "../../src/aip/timestamps.ts";

describe("times and timestamps", () => {
  const table: readonly (readonly [milliseconds: number, seconds: bigint, nanos: number])[] = [
    [0, 0n, 0],
    [1_700_000_000_123, 1_700_000_000n, 123_000_000],
    [-1, -1n, 999_000_000],
    [-62_135_596_800_000, -62_135_596_800n, 0],
  ];
  for (const [milliseconds, seconds, nanos] of table) {
    it(`${milliseconds} ms are ${seconds} s and ${nanos} ns, and back`, () => {
      const timestamp = toTimestamp(milliseconds);
      assert.deepEqual([timestamp.seconds, timestamp.nanos], [seconds, nanos]);
      assert.equal(fromTimestamp(timestamp), milliseconds);
      assert.equal(fromTimestamp({ ...timestamp, nanos: nanos + 999_999 }), milliseconds);
    });
  }
});

describe("a date and a time of day", () => {
  const table: readonly (readonly [date: string, timeOfDay: string, exists: boolean])[] = [
    ["2026-01-31", "23:59:59", true],
    ["2026-01-31", "23:59", true],
    ["2028-02-29", "00:00:00", true],
    ["2026-02-29", "00:00:00", false],
    ["2026-02-30", "00:00", false],
    ["2026-04-31", "00:00:00", false],
    ["2026-01-00", "00:00:00", false],
    ["2026-01-01", "24:00:00", false],
    ["2026-01-01", "23:59:60", false],
    ["", "00:00:00", false],
  ];
  for (const [date, timeOfDay, exists] of table) {
    const expected = exists ? Date.parse(`${date}T${timeOfDay}Z`) : undefined;
    it(`${date} ${timeOfDay} ${exists ? "exists" : "does not"}`, () =>
      assert.equal(findUtcTime(date, timeOfDay), expected));
  }
});
