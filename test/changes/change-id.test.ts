import assert from "node:assert/strict";
import { it } from "node:test";
import { newChangeIds } from "../../src/services/changes/change-id.ts";

const ids = newChangeIds(() => Buffer.alloc(32, 1));

it("the id of a change is always the same, and leads back to it", () => {
  for (const sequence of [1, 2, 255, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
    const id = ids.format(sequence);
    assert.match(id, /^[0-9a-f]{32}$/);
    assert.equal(ids.format(sequence), id);
    assert.equal(ids.parse(id), sequence);
  }
});

it("does not tell how many changes there are", () => {
  const made = Array.from({ length: 1000 }, (_, sequence) => ids.format(sequence));
  assert.notDeepEqual(made.toSorted(), made);
  // Nothing that neighbours share: each of the 32 digits is what chance would have it be.
  for (let digit = 0; digit < 32; digit++) assert.equal(new Set(made.map((id) => id[digit])).size, 16);
});

it("is made by nobody who lacks the key", () => {
  const others = newChangeIds(() => Buffer.alloc(32, 2));
  for (let sequence = 0; sequence < 1000; sequence++) assert.equal(ids.parse(others.format(sequence)), undefined);
  for (const text of ["", "x", "0".repeat(32), "f".repeat(32), `${ids.format(1)}00`, ids.format(1).toUpperCase()])
    assert.equal(ids.parse(text), undefined);
});
