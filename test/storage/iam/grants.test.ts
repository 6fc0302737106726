import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { effectiveGroup } from "../../../src/storage/iam/grants.ts";

const root = "a".repeat(40);
const home = `${root}/${"1".repeat(16)}`;
const inner = `${home}/${"2".repeat(16)}`;
const sibling = `${root}/${"3".repeat(16)}`;
const other = "b".repeat(40);
const person = "c".repeat(40);
const rooted = `${root}/${"4".repeat(16)}`;
const confined = `${home}/${"5".repeat(16)}`;

describe("where a binding takes effect", () => {
  const cases: readonly [rule: string, identity: string, group: string, place: string | undefined][] = [
    ["a person's, where it is", person, root, root],
    ["a person's, in a subgroup too", person, inner, inner],
    ["that of an identity of a root group, where it is", rooted, root, root],
    ["the same, below", rooted, inner, inner],
    ["the same, in another organization", rooted, other, other],
    ["that of an identity of a subgroup, in the subgroup", confined, home, home],
    ["the same, below the subgroup", confined, inner, inner],
    ["the same, above: in the subgroup", confined, root, home],
    ["the same, sibling: nowhere", confined, sibling, undefined],
    ["the same, in another organization: nowhere", confined, other, undefined],
  ];
  for (const [rule, identity, group, place] of cases) {
    it(rule, () => assert.equal(effectiveGroup(identity, group), place));
  }
});
