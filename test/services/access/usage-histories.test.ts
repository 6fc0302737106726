// Applying all advice to remove role bindings denies no recorded use: for random histories of roles, role bindings and calls.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { Access } from "../../../src/authz/access.ts";
import { AccessUsage } from "../../../src/authz/usage.ts";
import { dayMs } from "../../../src/base/clock.ts";
import { deleteRow, findRow, updateRow } from "../../../src/storage/collection/rows.ts";
import { writeSetting } from "../../../src/storage/engine/settings.ts";
import { noteBinding, storeUses } from "../../../src/storage/iam/access-usage.ts";
import { roleBindingCollection, roleCollection } from "../../../src/storage/iam/collections.ts";
import { databases } from "../../harness/databases.ts";
import { casesOf } from "../../harness/quick.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { addGroup, addIdentity, addRole, arrange, bind, viewerRole } from "../../security/tree.ts";
import { type Chooser, newChooser } from "./random-tree.ts";

const days = 40;
const window = 15;
const capabilities = [
  Capability.CAP_IAM_GROUPS_LIST,
  Capability.CAP_IAM_ROLES_LIST,
  Capability.CAP_REPO_LIST,
  Capability.CAP_TAG_LIST,
];

/** A recorded use: an identity was allowed something at a group. */
interface Use {
  readonly identity: string;
  readonly group: string;
  readonly capability: number;
  readonly time: number;
}

const counts = { histories: 0, removed: 0, uses: 0 };

for (const database of databases) {
  describe(`histories of access (${database})`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ database, settings: { accessUsage: "off" } });
    });
    after(() => server[Symbol.asyncDispose]());

    /** Returns the access of an identity, whose uses are recorded. */
    async function accessOf(identity: string, usage?: AccessUsage) {
      const grants = (await server.server.policy.grantsOf(identity)) ?? new Map();
      return new Access(grants, {}, 0, undefined, usage?.of(identity));
    }

    const subsetOf = ({ below, among }: Chooser) => {
      const some = capabilities.filter(() => below(2) === 0);
      return some.length > 0 ? some : [among(capabilities)];
    };

    /** Lives through a history that begins a while ago and ends now. */
    async function live(chooser: Chooser) {
      const { below, among } = chooser;
      const end = Date.now();
      let now = end - days * dayMs;
      const place = { server: server.server, clock: () => now };
      const root = await addGroup(place, null, "root");
      const groups = [root];
      for (let i = 0; i < 4; i++) groups.push(await addGroup(place, among(groups)));
      const identities = [await addIdentity(place, root), await addIdentity(place, among(groups))];
      const roles = [await addRole(place, root, subsetOf(chooser)), await addRole(place, root, capabilities)];
      const bindings: string[] = [];
      const usage = new AccessUsage({ usedIdentities: 10, usedGrants: 100 }, now);
      const uses: Use[] = [];
      const row = (uid: string) => findRow(server.server.database.session, roleBindingCollection, uid);
      const steps = {
        async bind() {
          const uid = await bind(place, among(groups), among(identities), among(roles)).catch(() => undefined);
          if (uid) bindings.push(uid);
        },
        async unbind() {
          if (bindings.length === 0) return;
          const [uid] = bindings.splice(below(bindings.length), 1);
          const before = await row(uid!);
          await arrange(place, (tx) => deleteRow(tx, roleBindingCollection, before!));
        },
        async rebind() {
          const before = bindings.length > 0 ? await row(among(bindings)) : undefined;
          if (!before) return;
          const next = { ...before, identityUid: among(identities), roleUid: among(roles) };
          const change = arrange(place, async (tx) => {
            await updateRow(tx, roleBindingCollection, before, next);
            await noteBinding(tx, next);
          });
          await change.catch(() => {});
        },
        async changeRole() {
          const before = await findRow(server.server.database.session, roleCollection, among(roles));
          const next = { ...before!, capabilities: subsetOf(chooser) };
          await arrange(place, (tx) => updateRow(tx, roleCollection, before!, next));
        },
        async use() {
          const [identity, group, capability] = [among(identities), among(groups), among(capabilities)];
          usage.advance(now);
          if ((await accessOf(identity, usage)).use([capability], group))
            uses.push({ identity, group, capability, time: now });
        },
      };
      const weighted = [steps.bind, steps.bind, steps.unbind, steps.rebind, steps.changeRole];
      for (let i = 0; i < 3; i++) await steps.bind();
      for (; now < end; now += below(2 * dayMs)) {
        if (below(3) === 0) await among(weighted)();
        else await steps.use();
        await arrange(place, (tx) => storeUses(tx, usage.take(below(3) === 0)));
      }
      await arrange(place, (tx) => storeUses(tx, usage.take(true)));
      const recording = { since: end - days * dayMs, until: end };
      await arrange(place, (tx) => writeSetting(tx, "access_usage_recording", JSON.stringify(recording)));
      return { root, uses };
    }

    /** Returns the role bindings that the list of unused access advises to remove. */
    async function adviceAt(root: string): Promise<string[]> {
      const asker = await addIdentity(server, root);
      await bind(server, root, asker, viewerRole.uid);
      const path = `/access/v1/groups/${root}:unusedAccess?unused_days=${window}&page_size=200`;
      const { status, body } = await rest(server.url, await server.tokenOf(asker), "GET", path);
      assert.equal(status, 200, JSON.stringify(body));
      return body.bindings
        .filter(({ advice }: { advice?: string }) => advice === "USAGE_ADVICE_REMOVE")
        .map(({ binding }: { binding: { roleBindingUid: string } }) => binding.roleBindingUid);
    }

    const isAllowed = async ({ identity, group, capability }: Use) => (await accessOf(identity)).has(capability, group);

    it("removing all role bindings with the advice to remove denies no use of the days that it is about", async () => {
      const histories = database === "sqlite" ? casesOf(20, 200) : 40;
      for (let seed = 1; seed <= histories; seed++) {
        const { root, uses } = await live(newChooser(seed * 7919));
        const advised = await adviceAt(root);
        const since = Date.now() - window * dayMs;
        const allowed: Use[] = [];
        for (const use of uses) if (use.time >= since && (await isAllowed(use))) allowed.push(use);
        for (const uid of advised) {
          const found = await findRow(server.server.database.session, roleBindingCollection, uid);
          await arrange(server, (tx) => deleteRow(tx, roleBindingCollection, found!));
        }
        for (const use of allowed) assert.ok(await isAllowed(use), `seed ${seed}: ${JSON.stringify(use)}`);
        counts.histories++;
        counts.removed += advised.length;
        counts.uses += allowed.length;
      }
      // Otherwise the histories would prove nothing.
      assert.ok(counts.removed >= counts.histories / 4, `${counts.removed} removed`);
      assert.ok(counts.uses >= counts.histories, `${counts.uses} uses`);
    });
  });
}
