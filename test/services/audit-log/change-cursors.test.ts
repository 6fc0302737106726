// The names of places in the change log.
import assert from "node:assert/strict";
import { it } from "node:test";
import { changeCursors } from "../../../src/services/audit-log/change-cursors.ts";

const places = changeCursors(() => Buffer.alloc(32, 1));
const others = changeCursors(() => Buffer.alloc(32, 2));
const time = Date.UTC(2030, 0, 1);
const some = [0, 1, 2, 255, 2 ** 32, Number.MAX_SAFE_INTEGER].map((sequence) => ({ sequence, time }));

it("the id of a change is always the same, and leads back to it", () => {
  for (const place of some) {
    const id = places.id(place);
    assert.match(id, /^[0-9a-f]{32}$/);
    assert.equal(places.id(place), id);
    assert.deepEqual(places.parse(id, "o"), { ...place, isChange: true });
  }
});

it("ids do not reveal how many changes there are", () => {
  const made = Array.from({ length: 1000 }, (_, sequence) => places.id({ sequence, time }));
  assert.notDeepEqual(made.toSorted(), made);
  // Nothing that neighbours share: each of the 32 digits is what chance would have it be.
  for (let digit = 0; digit < 32; digit++) assert.equal(new Set(made.map((id) => id[digit])).size, 16);
});

it("a cursor is different each time, and valid for one organization only", () => {
  for (const place of some) {
    const name = places.format(place, "o");
    assert.notEqual(places.format(place, "o"), name);
    assert.deepEqual(places.parse(name, "o"), { ...place, isChange: false });
    assert.equal(places.parse(name, "p"), undefined);
  }
});

it("cursors and ids cannot be forged or changed without the key", () => {
  for (const place of some) assert.equal(places.parse(others.format(place, "o"), "o"), undefined);
  const forged = Array.from({ length: 1000 }, (_, sequence) => places.parse(others.id({ sequence, time }), "o"));
  assert.deepEqual([...new Set(forged)], [undefined]);
  const name = places.format({ sequence: 1, time }, "o");
  for (let i = 0; i < name.length - 1; i++) {
    const changed = name.slice(0, i) + (name[i] === "A" ? "B" : "A") + name.slice(i + 1);
    assert.equal(places.parse(changed, "o"), undefined, changed);
  }
  for (const text of ["", "x", `${places.id(some[1]!)}00`, places.id(some[1]!).toUpperCase(), `${name}A`, `${name}=`])
    assert.equal(places.parse(text, "o"), undefined, text);
});
