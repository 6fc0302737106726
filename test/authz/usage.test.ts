// Which uses of access a process remembers, and when they are stored.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Access } from "../../src/authz/access.ts";
import { AccessUsage, type Use } from "../../src/authz/usage.ts";
import { capabilitySet } from "../../src/model/capabilities.ts";

const dayMs = 24 * 60 * 60 * 1000;
const limits = { usedIdentities: 3, usedGrants: 5 };
const [list, create, remove] = [103, 101, 104];

/** Returns uses as [identity, group, { capability: day }]. */
function plain(uses: readonly Use[]) {
  return uses.map(({ identityUid, groupUid, days }) => [identityUid, groupUid, Object.fromEntries(days)]);
}

describe("uses of access", () => {
  it("a use counts for the outermost group whose grant allows it", () => {
    const usage = new AccessUsage(limits, dayMs);
    const grants = new Map([
      ["r", capabilitySet([list])],
      ["r/a", capabilitySet([list, create])],
    ]);
    const access = new Access(grants, {}, 0, undefined, usage.of("i"));
    assert.equal(access.use([list], "r/a/b"), true);
    assert.equal(access.use([create], "r/a/b"), true);
    assert.deepEqual(plain(usage.take(false)), [
      ["i", "r", { [list]: 1 }],
      ["i", "r/a", { [create]: 1 }],
    ]);
  });

  it("questions, denials and previews are not uses", () => {
    const usage = new AccessUsage(limits, dayMs);
    const access = new Access(new Map([["r", capabilitySet([list])]]), {}, 0, undefined, usage.of("i"));
    assert.equal(access.has(list, "r"), true);
    assert.equal(access.use([list, create], "r"), false);
    assert.equal(access.unrecorded().use([list], "r"), true);
    assert.equal(access.use([list], "other"), false);
    assert.deepEqual(access.scope([list]), ["r"]);
    assert.deepEqual(usage.take(true), []);
  });

  it("a use outside of the scopes and capabilities of a narrowed token is denied and not recorded", () => {
    const usage = new AccessUsage(limits, dayMs);
    const grants = new Map([["r", capabilitySet([list, create])]]);
    const access = new Access(
      grants,
      { scopes: ["r/a"], capabilities: capabilitySet([list]) },
      0,
      undefined,
      usage.of("i"),
    );
    assert.equal(access.use([list], "r/b"), false);
    assert.equal(access.use([create], "r/a"), false);
    assert.deepEqual(usage.take(true), []);
    assert.equal(access.use([list], "r/a"), true);
    assert.deepEqual(plain(usage.take(true)), [["i", "r", { [list]: 1 }]]);
  });

  it("a capability is stored at once when it is new, and with the others on later days; once a day at most", () => {
    const usage = new AccessUsage(limits, dayMs);
    const uses = usage.of("i");
    uses.mark("r", list);
    uses.mark("r", list);
    assert.deepEqual(plain(usage.take(false)), [["i", "r", { [list]: 1 }]]);
    uses.mark("r", list);
    assert.deepEqual(usage.take(true), []);
    usage.advance(2 * dayMs + 5);
    uses.mark("r", list);
    assert.deepEqual(usage.take(false), []);
    uses.mark("r", create);
    assert.deepEqual(plain(usage.take(false)), [["i", "r", { [list]: 2, [create]: 2 }]]);
    assert.deepEqual(usage.take(true), []);
  });

  it("uses that could not be stored are stored next time, with those since", () => {
    const usage = new AccessUsage(limits, dayMs);
    const uses = usage.of("i");
    uses.mark("r", list);
    usage.putBack(usage.take(true));
    uses.mark("r", remove);
    assert.deepEqual(
      usage
        .take(false)
        .flatMap(({ days }) => [...days.keys()])
        .sort(),
      [list, remove],
    );
  });

  it("an identity that is forgotten loses no unstored use, and its recorder goes on", () => {
    const usage = new AccessUsage({ ...limits, usedGrants: 10 }, dayMs);
    const first = usage.of("i0");
    first.mark("r", list);
    for (let i = 1; i <= 4; i++) usage.of(`i${i}`).mark("r", list);
    first.mark("r", create);
    const stored = plain(usage.take(false));
    assert.deepEqual(
      stored.map(([identity]) => identity),
      ["i0", "i0", "i1", "i2", "i3", "i4"],
    );
    assert.equal(usage.of("i4"), usage.of("i4"));
    assert.notEqual(usage.of("i0"), first);
  });

  it("grants beyond the limit make the identities forgotten that were looked up longest ago", () => {
    const usage = new AccessUsage(limits, dayMs);
    const [a, b] = [usage.of("a"), usage.of("b")];
    for (const group of ["r1", "r2", "r3"]) a.mark(group, list);
    usage.take(true);
    for (const group of ["r1", "r2", "r3"]) b.mark(group, list);
    assert.equal(usage.of("b"), b);
    assert.notEqual(usage.of("a"), a);
  });

  it("a use beyond the limit of waiting ones is recorded again once there is room", () => {
    const usage = new AccessUsage(limits, dayMs);
    const uses = usage.of("i");
    for (let i = 0; i < 6; i++) uses.mark(`r${i}`, list);
    assert.equal(usage.take(true).length, 5);
    uses.mark("r5", list);
    assert.deepEqual(plain(usage.take(true)), [["i", "r5", { [list]: 1 }]]);
  });
});
