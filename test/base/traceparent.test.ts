import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readTraceParent } from "../../src/base/traceparent.ts";

const [traceId, parentId] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];

describe("the trace id of a traceparent header", () => {
  const table: [rule: string, header: string | undefined, id: string | undefined][] = [
    ["is there in version 00", `00-${traceId}-${parentId}-01`, traceId],
    ["is there with any flags", `00-${traceId}-${parentId}-00`, traceId],
    ["is there in a later version with more behind it", `01-${traceId}-${parentId}-01-more`, traceId],
    ["is missing without a header", undefined, undefined],
    ["is missing in an empty header", "", undefined],
    ["is missing in version ff", `ff-${traceId}-${parentId}-01`, undefined],
    ["is missing in version 00 with more behind it", `00-${traceId}-${parentId}-01-more`, undefined],
    ["is missing in capitals", `00-${traceId.toUpperCase()}-${parentId}-01`, undefined],
    ["is missing where it is all zeros", `00-${"0".repeat(32)}-${parentId}-01`, undefined],
    ["is missing where the parent id is all zeros", `00-${traceId}-${"0".repeat(16)}-01`, undefined],
    ["is missing where it is too short", `00-${traceId.slice(1)}-${parentId}-01`, undefined],
    ["is missing without flags", `00-${traceId}-${parentId}`, undefined],
    ["is missing in two headers", `00-${traceId}-${parentId}-01, 00-${traceId}-${parentId}-01`, undefined],
  ];
  for (const [rule, header, id] of table) it(rule, () => assert.equal(readTraceParent(header)?.traceId, id));
});

describe("the sampled flag of a traceparent header", () => {
  for (const [flags, isSampled] of [
    ["00", false],
    ["01", true],
    ["02", false],
    ["03", true],
    ["ff", true],
  ] as const)
    it(`${flags}: ${isSampled}`, () =>
      assert.equal(readTraceParent(`00-${traceId}-${parentId}-${flags}`)?.isSampled, isSampled));
});
