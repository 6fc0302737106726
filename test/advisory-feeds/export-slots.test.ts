// Tests the limit on exports at the same time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { newExportSlots } from "../../src/advisory-feeds/export-slots.ts";

test("slots of exports are bounded globally, for each organization and for formats that gather, and can be taken again", () => {
  const take = newExportSlots({ exports: 3, exportsOfOrganization: 2, gatheredExports: 1 });
  const isFull = (organization: string, isGathered = false) => {
    try {
      take(organization, isGathered)();
      return false;
    } catch {
      return true;
    }
  };
  const first = take("a", true);
  assert.deepEqual([isFull("a"), isFull("b"), isFull("b", true)], [false, false, true]);
  const second = take("a", false);
  assert.deepEqual([isFull("a"), isFull("b")], [true, false]);
  const third = take("b", false);
  assert.deepEqual([isFull("a"), isFull("b"), isFull("c")], [true, true, true]);
  first();
  first();
  assert.deepEqual([isFull("a", true), isFull("c", true)], [false, false]);
  third();
  second();
  assert.deepEqual([isFull("a"), isFull("b")], [false, false]);
});
