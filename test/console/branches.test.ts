// The rows of the tree of groups by number are those of the tree written out.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type Branch, branchOf, newBranch, placeAt, rowOf } from "../../console/src/views/groups/branches.ts";

/** Branches with up to three open ones in each, down to a depth. Some of those are beyond the last child: it has been deleted. */
function branchesTo(depth: number): fc.Arbitrary<Branch> {
  const child = depth === 0 ? fc.constant(newBranch("", 0, 0, [])) : fc.record({ branch: branchesTo(depth - 1) });
  const opened = fc.uniqueArray(fc.tuple(fc.nat({ max: 7 }), child), { maxLength: 3, selector: ([index]) => index });
  return fc.tuple(fc.option(fc.nat({ max: 6 }), { nil: undefined, freq: 8 }), opened).map(([total, open]) =>
    newBranch(
      "",
      0,
      total,
      open.flatMap(([index, one]) => ("branch" in one ? [{ index, branch: one.branch }] : [])),
    ),
  );
}

/** Gives each branch a uid and a level. */
function named({ total, opened }: Branch, uid = "root"): Branch {
  const level = uid.split("/").length - 1;
  return newBranch(
    uid,
    level,
    total,
    opened.map(({ index, branch }) => ({ index, branch: named(branch, `${uid}/${index}`) })),
  );
}

/** Returns all rows, one after another. */
function writtenOut(branch: Branch): string[] {
  if (branch.total === undefined) return [`${branch.uid}/0`];
  return Array.from({ length: branch.total }, (_, index) => {
    const open = branch.opened.find((child) => child.index === index);
    return [`${branch.uid}/${index}`, ...(open ? writtenOut(open.branch) : [])];
  }).flat();
}

describe("the rows of the tree", () => {
  it("are numbered in the order of the tree, at any depth", () => {
    fc.assert(
      fc.property(branchesTo(3), (shape) => {
        const root = named(shape);
        const expected = writtenOut(root);
        assert.equal(root.rowCount, expected.length);
        const places = expected.map((_, row) => placeAt(root, row));
        assert.deepEqual(
          places.map(({ branch, index }) => `${branch.uid}/${index}`),
          expected,
        );
        for (const [row, { branch, index }] of places.entries()) {
          assert.equal(rowOf(root, branch.uid, index), row);
          assert.equal(branchOf(root, branch.uid), branch);
        }
        assert.equal(rowOf(root, "elsewhere", 0), undefined);
      }),
      { numRuns: 500 },
    );
  });

  it("have no place for a child beyond the last, and count a million without listing them", () => {
    const many = newBranch("many", 1, 1_000_000, []);
    const root = newBranch("", 0, 2, [
      { index: 0, branch: many },
      { index: 2, branch: many },
    ]);
    assert.equal(root.rowCount, 1_000_002);
    assert.equal(rowOf(root, "many", 999_999), 1_000_000);
    assert.equal(rowOf(root, "many", 1_000_000), undefined);
    assert.deepEqual(placeAt(root, 1_000_001), { branch: root, index: 1 });
  });
});
