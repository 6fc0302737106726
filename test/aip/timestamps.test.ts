import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fromTimestamp, toTimestamp } from "../../src/aip/timestamps.ts";

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
