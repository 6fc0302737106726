// The checker itself: histories that have an explanation, and histories that have none.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findViolation, type Operation } from "./linearizability.ts";

const never = Number.POSITIVE_INFINITY;
const write = (value: string, calledAt: number, returnedAt: number): Operation => ({
  label: `write ${value}`,
  calledAt,
  returnedAt,
  isRead: false,
  apply: () => value,
});
const read = (value: string, calledAt: number, returnedAt: number): Operation => ({
  label: `read ${value}`,
  calledAt,
  returnedAt,
  isRead: true,
  apply: (state) => (state === value ? state : undefined),
});

const explained: Readonly<Record<string, readonly Operation[]>> = {
  "a read after an acknowledged write returns it": [write("a", 0, 1), read("a", 2, 3)],
  "a read during a write may return the value before it": [write("a", 0, 10), read("", 1, 2), read("a", 3, 4)],
  "concurrent writes may take effect in either order": [
    write("a", 0, 10),
    write("b", 0, 10),
    read("b", 1, 2),
    read("a", 3, 4),
    read("a", 11, 12),
  ],
  "a write of unknown result may take effect late": [
    write("a", 0, 1),
    write("b", 2, never),
    read("a", 3, 4),
    read("b", 90, 91),
  ],
  "a write of unknown result may never take effect": [write("a", 0, 1), write("b", 2, never), read("a", 90, 91)],
  "a long read may return any of the values that it overlaps": [
    write("a", 0, 1),
    write("b", 2, 3),
    read("a", 0, 9),
    read("", 0, 9),
  ],
};

const unexplained: Readonly<Record<string, readonly Operation[]>> = {
  "a read misses an acknowledged write": [write("a", 0, 1), read("", 2, 3)],
  "a read returns a value that was overwritten before it began": [write("a", 0, 1), write("b", 2, 3), read("a", 4, 5)],
  "a read returns the old value after another read returned the new one": [
    write("a", 0, 1),
    write("b", 2, 20),
    read("b", 3, 4),
    read("a", 5, 6),
  ],
  "a value changes back": [write("a", 0, never), read("a", 1, 2), read("", 3, 4)],
  "a read returns a value that nobody wrote": [write("a", 0, 1), read("c", 2, 3)],
};

describe("the checker of histories", () => {
  for (const [rule, operations] of Object.entries(explained))
    it(`accepts: ${rule}`, () => assert.equal(findViolation(operations), undefined));
  for (const [rule, operations] of Object.entries(unexplained))
    it(`rejects: ${rule}`, () => assert.equal(findViolation(operations)?.operation.isRead, true));

  it("names the states that were possible", () => {
    const violation = findViolation([write("a", 0, 1), write("b", 0, 1), read("", 2, 3)]);
    assert.deepEqual([...(violation?.states ?? [])].sort(), ["a", "b"]);
  });
});
