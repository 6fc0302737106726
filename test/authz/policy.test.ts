// Tests of the cache of grants, against a source whose responses the test delays.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { newPolicy } from "../../src/authz/policy.ts";
import type { IdentityGrants } from "../../src/model/grants.ts";

const identity = `${"a".repeat(40)}/${"1".repeat(16)}`;
const root = "a".repeat(40);
const owner: IdentityGrants = {
  createTime: 0,
  roles: [{ groupUid: root, capabilities: [Capability.CAP_IAM_GROUPS_LIST] }],
  hasSuspensions: false,
};
const nobody: IdentityGrants = { createTime: 0, roles: [], hasSuspensions: false };
const findMappedRoles = async () => [];
const findSuspendedOrganizations = async () => new Set<string>();
const findFoundedOrganizations = async () => [];

describe("grants are remembered", () => {
  it("grants are cached until the access epoch changes", async () => {
    let epoch = 1;
    let holder = owner;
    const policy = newPolicy({
      findGrants: async () => holder,
      findMappedRoles,
      findSuspendedOrganizations,
      findFoundedOrganizations,
      epoch: () => epoch,
      latestEpoch: () => epoch,
    });
    assert.equal((await policy.grantsOf(identity))?.size, 1);
    holder = nobody;
    assert.equal((await policy.grantsOf(identity))?.size, 1);
    epoch = 2;
    assert.equal((await policy.grantsOf(identity))?.size, 0);
  });

  it("a result that was read before a revocation and arrives after it is not cached", async () => {
    let epoch = 1;
    const late = Promise.withResolvers<IdentityGrants>();
    const answers = [late.promise, Promise.resolve(nobody)];
    const policy = newPolicy({
      findGrants: (uid) => (uid === identity ? answers.shift()! : Promise.resolve(nobody)),
      findMappedRoles,
      findSuspendedOrganizations,
      findFoundedOrganizations,
      epoch: () => epoch,
      latestEpoch: () => epoch,
    });
    const before = policy.grantsOf(identity);
    epoch = 2;
    // The first request after the revocation comes from another caller.
    await policy.grantsOf(root);
    late.resolve(owner);
    await before;
    assert.equal((await policy.grantsOf(identity))?.size, 0);
  });

  it("grants of at most 200,000 groups are cached, and the least recently used are evicted", async () => {
    const roles = Array.from({ length: 90_000 }, (_, i) => ({ groupUid: `${root}/${i}`, capabilities: [] }));
    const policy = newPolicy({
      findGrants: async () => ({ createTime: 0, roles, hasSuspensions: false }),
      findMappedRoles,
      findSuspendedOrganizations,
      findFoundedOrganizations,
      epoch: () => 1,
      latestEpoch: () => 1,
    });
    for (const uid of ["a", "b", "c", "c", "a"]) await policy.grantsOf(uid);
    assert.deepEqual([policy.hits, policy.misses], [1, 4]);
  });
});
