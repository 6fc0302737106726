import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import type { Narrowing } from "../../src/authn/caller.ts";
import { Access, outermost } from "../../src/authz/access.ts";
import { capabilitySet } from "../../src/model/capabilities.ts";

const root = "a".repeat(40);
const team = `${root}/${"1".repeat(16)}`;
const inner = `${team}/${"2".repeat(16)}`;
const sibling = `${root}/${"3".repeat(16)}`;
const other = "b".repeat(40);
const { CAP_IAM_GROUPS_LIST: list, CAP_IAM_GROUPS_DELETE: remove, CAP_IAM_ROLES_LIST: roles } = Capability;

function access(grants: Record<string, Capability[]>, narrowing: Narrowing = {}): Access {
  return new Access(new Map(Object.entries(grants).map(([uid, caps]) => [uid, capabilitySet(caps)])), narrowing);
}

describe("access", () => {
  it("I4: a grant reaches its group and everything below, and nothing else", () => {
    const held = access({ [team]: [list] });
    assert.deepEqual(
      [team, inner, root, sibling, other].map((uid) => held.has(list, uid)),
      [true, true, false, false, false],
    );
    assert.equal(held.has(remove, team), false);
  });

  it("I2: a uid that extends another by characters is not below it", () => {
    assert.equal(access({ [root]: [list] }).has(list, `${root}0`), false);
  });

  it("grants on several levels of the tree add up", () => {
    const held = access({ [root]: [list], [team]: [remove] });
    assert.deepEqual(held.missing(capabilitySet([list, remove, roles]), inner), ["roles.list"]);
    assert.deepEqual(held.missing(capabilitySet([list, remove]), sibling), ["groups.delete"]);
  });

  it("the scope is the set of groups where the caller holds all capabilities together", () => {
    const held = access({ [root]: [list], [team]: [remove], [other]: [remove] });
    assert.deepEqual(held.scope([list]), [root]);
    assert.deepEqual(held.scope([remove]), [team, other]);
    assert.deepEqual(held.scope([list, remove]), [team]);
    assert.deepEqual(held.scope([roles]), []);
  });

  it("X6: a token's scopes narrow, below and above the grant", () => {
    assert.deepEqual(access({ [root]: [list] }, { scopes: [team] }).scope([list]), [team]);
    assert.deepEqual(access({ [team]: [list] }, { scopes: [root] }).scope([list]), [team]);
    assert.deepEqual(access({ [team]: [list] }, { scopes: [sibling] }).scope([list]), []);
    const narrowed = access({ [root]: [list, remove] }, { scopes: [team] });
    assert.deepEqual(
      [team, inner, root, sibling].map((uid) => narrowed.has(remove, uid)),
      [true, true, false, false],
    );
    assert.deepEqual(narrowed.missing(capabilitySet([list]), sibling), ["groups.list"]);
  });

  it("a token's capabilities narrow", () => {
    const narrowed = access({ [root]: [list, remove] }, { capabilities: capabilitySet([list]) });
    assert.equal(narrowed.has(list, team), true);
    assert.equal(narrowed.has(remove, team), false);
    assert.deepEqual(narrowed.scope([remove]), []);
    assert.deepEqual(narrowed.missing(capabilitySet([list, remove]), team), ["groups.delete"]);
  });

  it("outermost drops what lies within another", () => {
    assert.deepEqual(outermost([inner, other, team, sibling, team]), [team, sibling, other]);
  });
});
