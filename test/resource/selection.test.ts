import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { outermost } from "../../src/authz/access.ts";
import { isBelow, isWithin, parentOf } from "../../src/model/uid.ts";
import { type PlaceFilter, selectSources } from "../../src/resource/selection.ts";
import type { Source } from "../../src/storage/list/list-rows.ts";

// A small world of uids: two roots and three levels below them. A segment is short: the functions do not look inside.
const world = ["a", "b"].flatMap((root) => [
  root,
  ...["1", "2"].flatMap((child) => [
    `${root}/${child}`,
    ...["3", "4"].flatMap((leaf) => [`${root}/${child}/${leaf}`, `${root}/${child}/${leaf}/5`]),
  ]),
]);

const noFilter: PlaceFilter = { ancestorsOf: "", descendantsOf: "", childrenOf: "", inRoot: false, ids: [] };
const place = fc.oneof(fc.constant(""), fc.constantFrom(...world));
const filters: fc.Arbitrary<PlaceFilter> = fc.record({
  ancestorsOf: place,
  descendantsOf: place,
  childrenOf: place,
  inRoot: fc.boolean(),
  ids: fc.array(fc.constantFrom(...world), { maxLength: 4 }),
});

function holds(source: Source, uid: string): boolean {
  if (source.type === "row") return source.uid === uid;
  if (source.type === "subtree") return isBelow(uid, source.uid);
  return source.uid === null ? !uid.includes("/") : parentOf(uid) === source.uid;
}

/** Returns the meaning of the filter, implemented in the simplest way. */
function passes(uid: string, filter: PlaceFilter): boolean {
  return (
    (filter.ancestorsOf === "" || isBelow(filter.ancestorsOf, uid)) &&
    (filter.descendantsOf === "" || isBelow(uid, filter.descendantsOf)) &&
    (filter.childrenOf === "" || parentOf(uid) === filter.childrenOf) &&
    (!filter.inRoot || !uid.includes("/")) &&
    (filter.ids.length === 0 || filter.ids.includes(uid))
  );
}

describe("selection of what is listed", () => {
  it("contains each row of the scope that matches the filter exactly once, and no other", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...world), { maxLength: 4 }),
        filters,
        fc.boolean(),
        (granted, filter, includesRoots) => {
          const scope = outermost(granted);
          const sources = selectSources(scope, filter, { includesGranted: true, includesRoots: false });
          for (const uid of world) {
            const expected = scope.some((group) => isWithin(uid, group)) && passes(uid, filter) ? 1 : 0;
            assert.equal(
              sources.filter((source) => holds(source, uid)).length,
              expected,
              `${uid} in ${JSON.stringify(sources)}`,
            );
          }
          // Only rows without a parent are added.
          const withRoots = selectSources(scope, filter, { includesGranted: false, includesRoots });
          const isRoot = includesRoots && passes("c", filter);
          assert.equal(withRoots.filter((source) => holds(source, "c")).length, isRoot ? 1 : 0);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("an empty scope selects nothing", () => {
    assert.deepEqual(selectSources([], noFilter, { includesGranted: true, includesRoots: false }), []);
  });
});
