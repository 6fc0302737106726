// Tests that simulations predict the effect of changes, for random trees, roles, bindings and changes.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { builtInRoles } from "../../../src/authz/built-in-roles.ts";
import { allCapabilities, capabilitySet } from "../../../src/model/capabilities.ts";
import { isBelow, isWithin, parentOf } from "../../../src/model/uid.ts";
import { databases } from "../../harness/databases.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { addGroup, addIdentity, addRole, bind, bindAll, ownerRole, viewerRole } from "../../security/tree.ts";
import { addRandomTree, type Chooser, decisionsOf, newChooser, type RandomTree } from "./random-tree.ts";

/** A change as a request of the simulation, and as the REST call that makes it. */
interface Change {
  readonly simulated: object;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

interface Effect {
  readonly identity: { readonly uid: string };
  readonly groupUid: string;
  readonly groupsBelow: string;
  readonly gained: readonly string[];
  readonly lost: readonly string[];
  readonly kept: readonly string[];
}

const names = allCapabilities().map(({ name }) => name);
const steps = 12;

for (const database of databases) {
  describe(`a simulation predicts what a change does (${database})`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ database });
    });
    after(() => server[Symbol.asyncDispose]());

    for (const seed of database === "sqlite" ? [7, 20261127] : [31]) {
      it(`seed ${seed}`, async () => {
        const chooser = newChooser(seed);
        const tree = await addRandomTree(server, chooser);
        const owner = await addIdentity(server, tree.root);
        await bind(server, tree.root, owner, ownerRole.uid);
        const token = await server.tokenOf(owner);
        for (let i = 0; i < steps; i++) {
          const change = await randomChange(server, token, tree, chooser);
          const predicted = await rest(server.url, token, "POST", "/access/v1/simulate", change.simulated);
          assert.equal(predicted.status, 200, JSON.stringify([change, predicted.body]));
          const held = await decisions(server, tree);
          const made = await rest(server.url, token, change.method, change.path, change.body);
          const what = JSON.stringify([change, predicted.body.obstacles, made.body]);
          assert.equal(predicted.body.obstacles.length > 0, made.status !== 200, what);
          if (made.status !== 200) {
            assert.ok(
              predicted.body.obstacles.some(({ message }: { message: string }) => message === made.body.message),
            );
            continue;
          }
          assert.equal(predicted.body.truncated ?? false, false);
          const expected = applied(held, predicted.body.effects, tree.groups);
          assert.deepEqual(await decisions(server, tree), expected, what);
          checkNamed(predicted.body.effects, tree.groups);
        }
      });
    }
  });
}

describe("what would stand in the way of a change", () => {
  let server: TestServer;
  let root: string;
  let owner: string;
  let binding: string;
  before(async () => {
    server = await startTestServer();
    root = await addGroup(server, null);
    owner = await addIdentity(server, root);
    binding = await bind(server, root, owner, ownerRole.uid);
  });
  after(() => server[Symbol.asyncDispose]());

  async function simulate(token: string, change: object) {
    return await rest(server.url, token, "POST", "/access/v1/simulate", change);
  }

  it("is LAST_OWNER for the last owner's binding, whether it is deleted or changed", async () => {
    const token = await server.tokenOf(owner);
    const changes = [
      { deleteRoleBinding: { uid: binding } },
      { updateRoleBinding: { roleBinding: { uid: binding, roleUid: viewerRole.uid } } },
    ];
    for (const change of changes) {
      const { body } = await simulate(token, change);
      assert.deepEqual(
        body.obstacles.map(({ statusCode, reason }: Record<string, string>) => [statusCode, reason]),
        [["FAILED_PRECONDITION", "LAST_OWNER"]],
      );
    }
    assert.equal((await rest(server.url, token, "GET", `/iam/v2beta1/roleBindings/${binding}`)).status, 200);
  });

  it("does not tell the holder of a narrowed token what else they hold", async () => {
    const capabilities = capabilitySet([Capability.CAP_IAM_ROLE_BINDINGS_LIST]);
    const token = await server.tokenOf(owner, { capabilities });
    const { body } = await simulate(token, { deleteRoleBinding: { uid: binding } });
    assert.deepEqual(body.effects[0].lost, ["role_bindings.list"]);
    assert.equal(body.obstacles[0].metadata.capability, "role_bindings.delete");
  });

  it("says so if a role has more bindings than are read", async () => {
    const role = await addRole(server, root, [Capability.CAP_REPO_LIST]);
    const holders = await Promise.all(Array.from({ length: 501 }, () => addIdentity(server, root)));
    await bindAll(
      server,
      root,
      holders.map((uid) => [uid, role] as const),
    );
    const { body } = await simulate(await server.tokenOf(owner), { deleteRole: { uid: role } });
    assert.deepEqual([body.truncated, body.effects.length], [true, 500]);
  });
});

/** Returns what each identity may do at each group, by the authorizer. */
async function decisions(server: TestServer, tree: RandomTree) {
  const found: Record<string, Record<string, string[]>> = {};
  for (const identity of tree.identities) found[identity] = await decisionsOf(server, identity, tree.groups);
  return found;
}

/** Returns the effect at a group: the one with the nearest group above it. */
function effectAt(effects: readonly Effect[], identity: string, group: string): Effect | undefined {
  const own = effects.filter((effect) => effect.identity.uid === identity && isWithin(group, effect.groupUid));
  return own.toSorted((a, b) => b.groupUid.length - a.groupUid.length)[0];
}

function applied(
  held: Record<string, Record<string, string[]>>,
  effects: readonly Effect[],
  groups: readonly string[],
) {
  const found = structuredClone(held);
  for (const [identity, byGroup] of Object.entries(found)) {
    for (const group of groups) {
      const effect = effectAt(effects, identity, group);
      if (!effect) continue;
      const set = new Set(byGroup[group]);
      for (const name of effect.kept) assert.ok(set.has(name), `${name} is kept, but was not held`);
      for (const name of effect.lost) assert.ok(set.delete(name), `${name} is lost, but was not held`);
      for (const name of effect.gained) {
        assert.ok(!set.has(name), `${name} is gained, but was held`);
        set.add(name);
      }
      byGroup[group] = names.filter((name) => set.has(name));
    }
  }
  return found;
}

/** Each group that has an effect is counted in one effect. */
function checkNamed(effects: readonly Effect[], groups: readonly string[]): void {
  for (const effect of effects) {
    const below = groups.filter(
      (group) => isBelow(group, effect.groupUid) && effectAt(effects, effect.identity.uid, group) === effect,
    );
    assert.equal(Number(effect.groupsBelow), below.length, JSON.stringify(effect));
  }
}

async function randomChange(
  server: TestServer,
  token: string,
  tree: RandomTree,
  { below, among }: Chooser,
): Promise<Change> {
  const list = async (path: string, field: string, query = "") =>
    (await rest(server.url, token, "GET", `${path}?pageSize=200&uidp.descendantsOf=${tree.root}${query}`)).body[field];
  // The caller keeps theirs.
  const isOfTree = ({ identity }: { identity: { uid: string } }) => tree.identities.includes(identity.uid);
  const bindings = (await list("/iam/v2beta1/roleBindings", "roleBindings")).filter(isOfTree);
  const custom = await list("/iam/v2beta1/roles", "roles");
  const binding = among(bindings) as { uid: string };
  const [identityUid, group] = [among(tree.identities.slice(1)), among(tree.groups)];
  const usable = [...custom, ...builtInRoles.slice(0, 4)].filter(
    ({ uid }: { uid: string }) => !uid.includes("/") || isWithin(parentOf(binding.uid), parentOf(uid)),
  );
  const roleUid = (among(usable) as { uid: string }).uid;
  const someRole = among(custom) as { uid: string };
  switch (below(5)) {
    case 0: {
      const roleBinding = { identityUid, roleUid: among(tree.roles) };
      const simulated = { createRoleBinding: { parent: group, roleBinding } };
      return { simulated, method: "POST", path: `/iam/v2beta1/roleBindings/${group}`, body: roleBinding };
    }
    case 1: {
      const body = below(2) === 0 ? { roleUid } : { identityUid, roleUid };
      const simulated = { updateRoleBinding: { roleBinding: { uid: binding.uid, ...body } } };
      return { simulated, method: "PATCH", path: `/iam/v2beta1/roleBindings/${binding.uid}`, body };
    }
    case 2: {
      const simulated = { deleteRoleBinding: { uid: binding.uid } };
      return { simulated, method: "DELETE", path: `/iam/v2beta1/roleBindings/${binding.uid}` };
    }
    case 3: {
      const capabilities = ["CAP_IAM_GROUPS_LIST", "CAP_REPO_LIST", "CAP_TAG_LIST"].filter(
        (_, i) => i === 0 || below(2) === 0,
      );
      const simulated = { updateRole: { uid: someRole.uid, capabilities } };
      return { simulated, method: "PATCH", path: `/iam/v2beta1/roles/${someRole.uid}`, body: { capabilities } };
    }
    default: {
      const simulated = { deleteRole: { uid: someRole.uid } };
      return { simulated, method: "DELETE", path: `/iam/v2beta1/roles/${someRole.uid}` };
    }
  }
}
