// WhoCan and WhatCan say what the authorizer decides, for random trees, roles and bindings, and no more than the caller may see.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { Access } from "../../../src/authz/access.ts";
import { allCapabilities, capabilityNames, capabilitySet } from "../../../src/model/capabilities.ts";
import { isBelow, isWithin } from "../../../src/model/uid.ts";
import { effectiveGroup } from "../../../src/storage/iam/grants.ts";
import { databases } from "../../harness/databases.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { bind, ownerRole } from "../../security/tree.ts";
import { accessOf, addRandomTree, decisionsOf, lineOf, newChooser, type RandomTree, readPages } from "./random-tree.ts";

const allNames = allCapabilities().map(({ name }) => name);
const listBindings = Capability.CAP_IAM_ROLE_BINDINGS_LIST;

for (const database of databases) {
  describe(`lists of access agree with the authorizer (${database})`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ database });
    });
    after(() => server[Symbol.asyncDispose]());

    for (const seed of database === "sqlite" ? [1, 20261126] : [5]) {
      describe(`seed ${seed}`, () => {
        let tree: RandomTree;
        let callers: string[];
        before(async () => {
          tree = await addRandomTree(server, newChooser(seed));
          const [owner = "", admin = ""] = tree.identities.slice(-2);
          await bind(server, tree.root, owner, ownerRole.uid).catch(() => {});
          await bind(server, tree.groups.at(-1)!, admin, ownerRole.uid).catch(() => {});
          callers = tree.identities.slice(-4);
        });

        /** Returns the identities that a caller must find at a group, with what they hold there. */
        async function expectedAt(caller: string, group: string) {
          const access = await accessOf(server, caller);
          const found: Record<string, string[]> = {};
          const all = [...(await bindingsOf(server, tree.root))];
          for (const identity of tree.identities) {
            const effective = all.filter(({ identityUid, groupUid }) => {
              const place = identityUid === identity && effectiveGroup(identity, groupUid);
              return lineOf(group).includes(groupUid) && place && isWithin(group, place);
            });
            const isListed = (groupUid: string) => access.has(listBindings, groupUid);
            const place = lineOf(group).find((each) => access.has(Capability.CAP_IAM_IDENTITY_LIST, each));
            const isSeen = identity === caller || (place !== undefined && isBelow(identity, place));
            if (!effective.some(({ groupUid }) => isListed(groupUid) || isSeen)) continue;
            found[identity] = (await decisionsOf(server, identity, [group]))[group]!;
          }
          return found;
        }

        it("WhoCan lists who holds what at a group", async () => {
          for (const caller of callers) {
            const token = await server.tokenOf(caller);
            const access = await accessOf(server, caller);
            for (const group of tree.groups) {
              const path = `/access/v1/groups/${group}:whoCan`;
              const { status, items, total, first } = await readPages(server, token, path, "identities", {
                pageSize: "3",
              });
              if (!access.has(listBindings, group)) {
                assert.equal(status, 403);
                continue;
              }
              const found = Object.fromEntries(items.map(({ identity, capabilities }) => [identity.uid, capabilities]));
              assert.deepEqual(found, await expectedAt(caller, group));
              assert.equal(total, items.length);
              const uids = items.map(({ identity }) => identity.uid);
              assert.deepEqual(uids, uids.toSorted());
              assert.deepEqual(
                first.unlistedGroupUids,
                lineOf(group).filter((each) => !access.has(listBindings, each)),
              );
              const others = items.filter(({ identity }) => identity.uid !== caller);
              for (const { groupUid, roleUid } of others.flatMap(({ bindings }) => bindings))
                if (!access.has(listBindings, groupUid)) assert.equal(roleUid, undefined);
            }
          }
        });

        it("WhoCan filters by capability as the authorizer decides", async () => {
          const [caller = ""] = tree.identities.slice(-2);
          const token = await server.tokenOf(caller);
          for (const group of tree.groups) {
            const path = `/access/v1/groups/${group}:whoCan`;
            const query = { capability: "repo.list", orderBy: "identity_uid desc", pageSize: "2" };
            const { items, total } = await readPages(server, token, path, "identities", query);
            const expected = Object.entries(await expectedAt(caller, group));
            const holders = expected.filter(([, held]) => held.includes("repo.list")).map(([uid]) => uid);
            assert.deepEqual(
              items.map(({ identity }) => identity.uid),
              holders.toSorted().toReversed(),
            );
            assert.equal(total, holders.length);
          }
        });

        it("WhatCan lists what an identity holds, wherever the caller may list bindings", async () => {
          for (const caller of callers) {
            const token = await server.tokenOf(caller);
            const access = await accessOf(server, caller);
            for (const identity of tree.identities) {
              const asked = await readPages(server, token, "/access/v1/whatCan", "roles", { identity, pageSize: "2" });
              assert.equal(asked.total, asked.items.length);
              const decisions = await decisionsOf(server, identity, tree.groups);
              for (const group of tree.groups) {
                const isSeen = identity === caller || access.has(listBindings, group);
                if (isSeen) assert.deepEqual(heldBy(asked.items, group), decisions[group], `${identity} at ${group}`);
              }
            }
          }
        });

        it("WhatCan lists what a narrowed token of the identity may do", async () => {
          for (const identity of callers) {
            const numbers = [Capability.CAP_IAM_GROUPS_LIST, listBindings, Capability.CAP_REPO_LIST];
            const narrowing = { scopes: [tree.groups[1]!, tree.groups[2]!], capabilities: capabilitySet(numbers) };
            const token = await server.tokenOf(identity, narrowing);
            const { items } = await readPages(server, token, "/access/v1/whatCan", "roles", {});
            const access = new Access((await server.server.policy.grantsOf(identity))!, narrowing);
            for (const group of tree.groups)
              assert.deepEqual(heldBy(items, group), capabilityNames(access.heldAt(group)));
          }
        });
      });
    }
  });
}

/** Returns all bindings of an organization. */
async function bindingsOf({ server }: TestServer, root: string) {
  return await server.database.read(async (session) => {
    const statement = session.prepared("test.bindings", (db, { roleBindings }) => db.select().from(roleBindings));
    const rows = await statement.execute();
    return rows.filter(({ parent }) => isWithin(parent, root)).map((row) => ({ ...row, groupUid: row.parent }));
  });
}

/** Returns the capabilities at a group, by the listed roles. */
function heldBy(
  roles: readonly { readonly effectiveGroupUids: readonly string[]; readonly capabilities: readonly string[] }[],
  group: string,
): string[] {
  const held = new Set(
    roles
      .filter(({ effectiveGroupUids }) => effectiveGroupUids.some((uid) => isWithin(group, uid)))
      .flatMap(({ capabilities }) => capabilities),
  );
  // In the order of the vocabulary.
  return allNames.filter((name) => held.has(name));
}
