// Tests of the cache of grants, against a source whose responses the test delays.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { type AccessToken, newPolicy } from "../../src/authz/policy.ts";
import { type IdentityGrants, noTerm, type SessionRoles, type TimedRole } from "../../src/model/grants.ts";

const identity = `${"a".repeat(40)}/${"1".repeat(16)}`;
const root = "a".repeat(40);
const owner: IdentityGrants = {
  createTime: 0,
  roles: [{ role: { groupUid: root, capabilities: [Capability.CAP_IAM_GROUPS_LIST] }, ...noTerm }],
  hasSuspensions: false,
};
const nobody: IdentityGrants = { createTime: 0, roles: [], hasSuspensions: false };
const findMappedRoles = async () => ({ roles: [], knownUntil: Number.POSITIVE_INFINITY });
const termTime = () => 0;
const findSuspendedOrganizations = async () => new Set<string>();
const findFoundedOrganizations = async () => [];

describe("grants are remembered", () => {
  it("grants are cached until the access epoch changes", async () => {
    let epoch = 1;
    let holder = owner;
    const policy = newPolicy({
      findGrants: async () => holder,
      findMappedRoles,
      termTime,
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
      termTime,
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
    const roles = Array.from({ length: 90_000 }, (_, i) => ({
      role: { groupUid: `${root}/${i}`, capabilities: [] },
      ...noTerm,
    }));
    const policy = newPolicy({
      findGrants: async () => ({ createTime: 0, roles, hasSuspensions: false }),
      findMappedRoles,
      termTime,
      findSuspendedOrganizations,
      findFoundedOrganizations,
      epoch: () => 1,
      latestEpoch: () => 1,
    });
    for (const uid of ["a", "b", "c", "c", "a"]) await policy.grantsOf(uid);
    assert.deepEqual([policy.hits, policy.misses], [1, 4]);
  });
});

describe("cached grants begin and end", () => {
  const policyOf = (
    roles: readonly TimedRole[],
    mapped: SessionRoles,
    clock: { now: number },
    reads: { count: number },
  ) =>
    newPolicy({
      findGrants: async () => {
        reads.count++;
        return { createTime: 0, roles, hasSuspensions: false };
      },
      findMappedRoles: async () => mapped,
      termTime: () => clock.now,
      findSuspendedOrganizations,
      findFoundedOrganizations,
      epoch: () => 1,
      latestEpoch: () => 1,
    });
  const roleAt = (groupUid: string, startTime: number | null, expireTime: number | null): TimedRole => ({
    role: { groupUid, capabilities: [Capability.CAP_IAM_GROUPS_LIST] },
    startTime,
    expireTime,
  });
  const noMappings: SessionRoles = { roles: [], knownUntil: Number.POSITIVE_INFINITY };
  const groupsOf = (grants: ReadonlyMap<string, unknown> | undefined) => [...(grants?.keys() ?? [])].sort().join();

  it("grants follow the terms of roles at each instant with one read, and synchronously after it", async () => {
    const [clock, reads] = [{ now: 5 }, { count: 0 }];
    const roles = [roleAt("a", 10, 20), roleAt("b", null, 15), roleAt("c", null, null)];
    const policy = policyOf(roles, noMappings, clock, reads);
    await policy.grantsOf(identity);
    for (const [now, groups] of [
      [9, "b,c"],
      [10, "a,b,c"],
      [14, "a,b,c"],
      [15, "a,c"],
      [19, "a,c"],
      [20, "c"],
      [1000, "c"],
    ] as const) {
      clock.now = now;
      const grants = policy.grantsOf(identity);
      assert.ok(!(grants instanceof Promise), `${now}`);
      assert.equal(groupsOf(grants as ReadonlyMap<string, unknown>), groups, `at ${now}`);
    }
    assert.equal(reads.count, 1);
  });

  it("roles by mappings are read again at the time until which they are known", async () => {
    const [clock, reads] = [{ now: 5 }, { count: 0 }];
    const policy = policyOf([], { roles: [roleAt("a", null, 10)], knownUntil: 10 }, clock, reads);
    assert.equal(groupsOf(await policy.grantsOf(identity)), "a");
    clock.now = 9;
    assert.equal(groupsOf(await policy.grantsOf(identity)), "a");
    assert.equal(reads.count, 1);
    clock.now = 10;
    assert.equal(groupsOf(await policy.grantsOf(identity)), "");
    assert.equal(reads.count, 2);
  });

  it("access says until when it stays the same, and which part of it lasts", async () => {
    const [clock, reads] = [{ now: 5 }, { count: 0 }];
    const policy = policyOf([roleAt(root, null, 20), roleAt("b", null, null)], noMappings, clock, reads);
    const token = { subject: identity, act: {}, issuedAt: 1, expiresAt: 1e6, narrowing: {}, mappings: [] };
    const access = await policy.accessOf(token as unknown as AccessToken);
    assert.equal(access?.until, 20);
    const mayList = (end: number) => access!.lasting(end).has(Capability.CAP_IAM_GROUPS_LIST, root);
    assert.deepEqual([mayList(20), mayList(21), mayList(Number.POSITIVE_INFINITY)], [true, false, false]);
    assert.ok(access!.lasting(Number.POSITIVE_INFINITY).has(Capability.CAP_IAM_GROUPS_LIST, "b"));
  });
});

describe("grants of a person whom the organization of their identity has deactivated", () => {
  it("only the grants in other organizations that the identity created are left", async () => {
    const [founded, other] = ["b".repeat(40), "c".repeat(40)] as const;
    const capabilities = [Capability.CAP_IAM_GROUPS_LIST];
    const roles = [root, founded, other].map((groupUid) => ({ role: { groupUid, capabilities }, ...noTerm }));
    const policy = newPolicy({
      findGrants: async () => ({ createTime: 0, roles, hasSuspensions: true }),
      findMappedRoles,
      termTime,
      findSuspendedOrganizations: async () => new Set([root]),
      findFoundedOrganizations: async () => [founded],
      epoch: () => 1,
      latestEpoch: () => 1,
    });
    const act = { iss: "https://issuer.example.org", sub: "leaver" };
    const token = { subject: identity, act, issuedAt: 1, expiresAt: 1e6, narrowing: {}, mappings: [] };
    const access = await policy.accessOf(token as unknown as AccessToken);
    const isLeft = [root, founded, other].map((uid) => access?.has(Capability.CAP_IAM_GROUPS_LIST, uid));
    assert.deepEqual(isLeft, [false, true, false]);
  });
});
