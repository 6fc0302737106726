// The list of role bindings that nobody used: what counts as a use, the advice and its evidence, through the wire.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { findRow, insertRow, updateRow } from "../../../src/storage/collection/rows.ts";
import { accessRecording, storeUses } from "../../../src/storage/iam/access-usage.ts";
import { identityCollection, roleBindingCollection } from "../../../src/storage/iam/collections.ts";
import { databases } from "../../harness/databases.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { until } from "../../harness/until.ts";
import { basic, getToken } from "../../registry/sign-in.ts";
import {
  addCaller,
  addGroup,
  addIdentity,
  addPerson,
  arrange,
  bind,
  ownerRole,
  viewerRole,
} from "../../security/tree.ts";
import { readPages } from "./random-tree.ts";

const dayMs = 24 * 60 * 60 * 1000;
const dayOf = (time: number) => Math.floor(time / dayMs);
const list = Capability.CAP_IAM_GROUPS_LIST;

/** A role binding of the list. */
interface Row {
  readonly binding: { readonly roleBindingUid: string; readonly roleName?: string; readonly groupUid: string };
  readonly identity: { readonly uid: string; readonly name?: string };
  readonly lastUseTime?: string;
  readonly usedCapabilities?: readonly { readonly capability: string; readonly lastUseTime: string }[];
  readonly capabilityCount: number;
  readonly observedSinceTime?: string;
  readonly delegationCount?: number;
  readonly advice?: string;
}

for (const database of databases) {
  describe(`unused access (${database})`, () => {
    let server: TestServer;
    let root: string;
    let folder: string;
    let owner: { uid: string; token: string };
    const now = Date.now();
    const at = (daysAgo: number) => ({ server: server.server, clock: () => now - daysAgo * dayMs });

    before(async () => {
      server = await startTestServer({ database });
      root = await addGroup(at(300), null, "usage.example");
      folder = await addGroup(at(300), root, "folder");
      owner = await addCaller(server, root, ownerRole.uid);
      await recordSince(200);
    });
    after(() => server[Symbol.asyncDispose]());

    /** Lets recording have begun some days ago. */
    async function recordSince(daysAgo: number) {
      await until("the recording", () => accessRecording.since(server.server.database.session));
      await arrange(server, accessRecording.end);
      for (let day = daysAgo; day >= 0; day--) await arrange(at(day), accessRecording.note);
    }

    async function listAll(group: string, query: Record<string, string> = {}, token = owner.token) {
      return await readPages(server, token, `/access/v1/groups/${group}:unusedAccess`, "bindings", query);
    }

    async function find(group: string, uid: string, query: Record<string, string> = { showUsed: "true" }) {
      const { items } = await listAll(group, query);
      return (items as Row[]).find(({ binding }) => binding.roleBindingUid === uid);
    }

    /** Adds an identity with a role binding that is as old as the group. */
    async function addOld(group: string, roleUid = viewerRole.uid) {
      const identity = await addIdentity(at(300), group);
      return { identity, uid: await bind(at(250), group, identity, roleUid) };
    }

    const get = async (identity: string, path: string) =>
      (await rest(server.url, await server.tokenOf(identity), "GET", path)).status;

    /** Waits until a use is stored. */
    const used = (group: string, uid: string) =>
      until("the use", async () => {
        const row = await find(group, uid);
        return row?.lastUseTime ? row : undefined;
      });

    const storeUse = (identityUid: string, groupUid: string, capability: number, daysAgo: number) =>
      arrange(server, (tx) =>
        storeUses(tx, [{ identityUid, groupUid, days: new Map([[capability, dayOf(now - daysAgo * dayMs)]]) }]),
      );

    it("a role binding without a use is to be removed, with the evidence", async () => {
      const { identity, uid } = await addOld(folder);
      const row = await find(folder, uid, {});
      assert.equal(row?.advice, "USAGE_ADVICE_REMOVE");
      assert.equal(row.identity.uid, identity);
      assert.equal(row.binding.roleName, "viewer");
      assert.equal(row.capabilityCount, viewerRole.capabilities.length);
      assert.equal(row.lastUseTime, undefined);
      assert.equal(row.observedSinceTime, new Date(now - 200 * dayMs).toISOString());
    });

    it("the findings are the role bindings whose removal is advised after 90 days", async () => {
      const { uid } = await addOld(folder);
      const young = await bind(at(80), folder, await addIdentity(at(300), folder), viewerRole.uid);
      const { identity, uid: inUse } = await addOld(folder);
      assert.equal(await get(identity, `/iam/v2beta1/groups/${folder}`), 200);
      await used(folder, inUse);
      const findings = async () => {
        const query = `parent=${root}&kinds=FINDING_KIND_UNUSED_BINDING&pageSize=200`;
        const { body } = await rest(server.url, owner.token, "GET", `/gatehouse/organizations/v1/findings?${query}`);
        return (body.findings ?? []) as { resourceUid: string; roleBinding: { roleName: string } }[];
      };
      const found = await findings();
      const advised = ((await listAll(root)).items as Row[]).filter(({ advice }) => advice === "USAGE_ADVICE_REMOVE");
      assert.deepEqual(
        found.map(({ resourceUid }) => resourceUid),
        advised.map(({ binding }) => binding.roleBindingUid).sort(),
      );
      const uids = found.map(({ resourceUid }) => resourceUid);
      assert.deepEqual(
        [uid, young, inUse].map((one) => uids.includes(one)),
        [true, false, false],
      );
      assert.equal(found.find(({ resourceUid }) => resourceUid === uid)?.roleBinding.roleName, "viewer");
      await recordSince(89);
      assert.deepEqual(await findings(), []);
      await recordSince(200);
    });

    it("a call makes the role binding used within a second, and names the capability and the day", async () => {
      const { identity, uid } = await addOld(folder);
      assert.equal(await get(identity, `/iam/v2beta1/groups/${folder}`), 200);
      const row = await used(folder, uid);
      const today = new Date(dayOf(Date.now()) * dayMs).toISOString();
      assert.deepEqual(row.usedCapabilities, [{ capability: "groups.list", lastUseTime: today }]);
      assert.equal(row.lastUseTime, today);
      assert.equal(row.advice, undefined);
      assert.equal(await find(folder, uid, {}), undefined);
    });

    it("a list is a use where the role binding is", async () => {
      const { identity, uid } = await addOld(folder);
      assert.equal(await get(identity, `/iam/v2beta1/roles?uidp.descendantsOf=${folder}`), 200);
      assert.deepEqual(
        (await used(folder, uid)).usedCapabilities?.map(({ capability }) => capability),
        ["roles.list"],
      );
    });

    it("a token for the registry is a use of what its actions need", async () => {
      const { identity, uid } = await addOld(folder);
      await rest(server.url, owner.token, "POST", `/registry/v2beta1/repos/${folder}`, { name: "hello" });
      const token = await server.tokenOf(identity, {}, server.config.registry.service);
      const { status, access } = await getToken(server.url, basic("_token", token), [
        `repository:${root}/folder/hello:pull`,
      ]);
      assert.deepEqual([status, access], [200, [`repository:${root}/folder/hello:pull`]]);
      assert.deepEqual(
        (await used(folder, uid)).usedCapabilities?.map(({ capability }) => capability),
        ["manifest.list", "repo.blobs.get"].sort(),
      );
    });

    it("questions about access, denied calls, simulated changes and plans are not uses", async () => {
      const { identity, uid } = await addOld(folder, ownerRole.uid);
      const token = await server.tokenOf(identity);
      const asked = new URLSearchParams({ group: folder, capability: "groups.delete", identity });
      assert.equal((await rest(server.url, owner.token, "GET", `/access/v1/explain?${asked}`)).status, 200);
      assert.equal((await rest(server.url, owner.token, "GET", `/access/v1/groups/${folder}:whoCan`)).status, 200);
      asked.delete("identity");
      assert.equal((await rest(server.url, token, "GET", `/access/v1/explain?${asked}`)).status, 200);
      assert.equal((await rest(server.url, token, "GET", `/access/v1/whatCan`)).status, 200);
      assert.equal(await get(identity, `/iam/v2beta1/groups/${root}`), 403);
      const deletion = { deleteRoleBinding: { uid } };
      assert.equal((await rest(server.url, token, "POST", "/access/v1/simulate", deletion)).status, 200);
      const plan = {
        groupUid: folder,
        validateOnly: true,
        resources: [{ group: { name: "inner" } }],
      };
      assert.equal((await rest(server.url, token, "POST", "/gatehouse/apply/v1/resources:apply", plan)).status, 200);
      // The next use is stored with all that were before it.
      assert.equal(await get(identity, `/iam/v2beta1/groups/${folder}`), 200);
      const capabilities = (await used(folder, uid)).usedCapabilities?.map(({ capability }) => capability) ?? [];
      for (const name of ["groups.create", "groups.delete", "role_bindings.delete"])
        assert.ok(!capabilities.includes(name), name);
    });

    it("only the outermost role binding is used, until it is deleted: then the inner one is needed", async () => {
      const outer = await addOld(root);
      const inner = await bind(at(250), folder, outer.identity, viewerRole.uid);
      const [other, elsewhere] = [await addGroup(at(300), root, "other"), ownerRole.uid];
      const side = await bind(at(250), other, outer.identity, elsewhere);
      await arrange(server, (tx) =>
        storeUses(tx, [
          { identityUid: outer.identity, groupUid: root, days: new Map([[list, dayOf(now - 10 * dayMs)]]) },
        ]),
      );
      assert.equal((await find(root, outer.uid))?.advice, undefined);
      assert.equal((await find(root, inner))?.advice, "USAGE_ADVICE_REMOVE");
      assert.equal(
        (await rest(server.url, owner.token, "DELETE", `/iam/v2beta1/roleBindings/${outer.uid}`)).status,
        200,
      );
      for (const uid of [inner, side]) assert.equal((await find(root, uid))?.advice, undefined);
      assert.deepEqual(
        (await find(root, inner))?.usedCapabilities?.map(({ capability }) => capability),
        ["groups.list"],
      );
      assert.equal((await find(root, inner, { unusedDays: "8" }))?.advice, "USAGE_ADVICE_REMOVE");
    });

    it("a use of an outer role binding that will end counts for the inner one, too", async () => {
      const outer = await addOld(root);
      const inner = await bind(at(250), folder, outer.identity, viewerRole.uid);
      await storeUse(outer.identity, root, list, 10);
      assert.equal((await find(root, inner))?.advice, "USAGE_ADVICE_REMOVE");
      await arrange(server, async (tx) => {
        const before = (await findRow(tx, roleBindingCollection, outer.uid))!;
        await updateRow(tx, roleBindingCollection, before, { ...before, expireTime: now + dayMs });
      });
      assert.equal((await find(root, inner))?.advice, undefined);
    });

    it("a use on the day on which the role binding was made counts", async () => {
      const identity = await addIdentity(at(300), folder);
      const uid = await bind(at(30), folder, identity, viewerRole.uid);
      await storeUse(identity, folder, list, 30);
      assert.equal((await find(folder, uid))?.usedCapabilities?.length, 1);
    });

    it("a use that is stored after a later one does not replace it", async () => {
      const { identity, uid } = await addOld(folder);
      await storeUse(identity, folder, list, 5);
      await storeUse(identity, folder, Capability.CAP_IAM_ROLES_LIST, 50);
      assert.equal(await find(folder, uid, { unusedDays: "40" }), undefined);
    });

    it("a use outside of the asked days is shown, and does not prevent the advice", async () => {
      const { identity, uid } = await addOld(folder);
      await arrange(server, (tx) =>
        storeUses(tx, [{ identityUid: identity, groupUid: folder, days: new Map([[list, dayOf(now - 50 * dayMs)]]) }]),
      );
      assert.equal(await find(folder, uid, { unusedDays: "60" }), undefined);
      const row = await find(folder, uid, { unusedDays: "40" });
      assert.equal(row?.advice, "USAGE_ADVICE_REMOVE");
      assert.equal(row.usedCapabilities?.length, 1);
    });

    it("a use of a capability that the role does not have is not a use of the role", async () => {
      const { identity, uid } = await addOld(folder);
      const days = new Map([[Capability.CAP_IAM_GROUPS_DELETE as number, dayOf(now)]]);
      await arrange(server, (tx) => storeUses(tx, [{ identityUid: identity, groupUid: folder, days }]));
      assert.equal((await find(folder, uid))?.advice, "USAGE_ADVICE_REMOVE");
    });

    it("it is too early for role bindings that are newer than the asked days, or were changed or recorded later", async () => {
      const identity = await addIdentity(at(300), folder);
      const young = await bind(at(20), folder, identity, viewerRole.uid);
      assert.equal((await find(folder, young, {}))?.advice, "USAGE_ADVICE_TOO_EARLY");
      assert.equal((await find(folder, young, { unusedDays: "19" }))?.advice, "USAGE_ADVICE_REMOVE");
      const { uid } = await addOld(folder);
      assert.equal((await find(folder, uid, { unusedDays: "199" }))?.advice, "USAGE_ADVICE_REMOVE");
      assert.equal((await find(folder, uid, { unusedDays: "201" }))?.advice, "USAGE_ADVICE_TOO_EARLY");
      const change = { roleBinding: { uid, identityUid: identity, roleUid: ownerRole.uid } };
      const path = `/iam/v2beta1/roleBindings/${uid}`;
      const { status, body } = await rest(server.url, owner.token, "PATCH", path, change.roleBinding);
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal((await find(folder, uid, {}))?.advice, "USAGE_ADVICE_TOO_EARLY");
    });

    it("a role binding whose holder made delegations there is not in the list", async () => {
      const { identity, uid } = await addOld(folder, ownerRole.uid);
      const invite = { roleUid: viewerRole.uid, ttl: "3600s" };
      const token = await server.tokenOf(identity);
      const path = `/iam/v2beta1/groupInvites/${folder}`;
      const { status, body } = await rest(server.url, token, "POST", path, invite);
      assert.equal(status, 200, JSON.stringify(body));
      const row = await used(folder, uid);
      assert.equal(row.delegationCount, 1);
      assert.equal(row.advice, undefined);
    });

    it("the effect of an identity of a subgroup counts where it takes effect", async () => {
      const identity = await addIdentity(at(300), folder);
      const uid = await bind(at(250), root, identity, viewerRole.uid);
      assert.equal((await find(root, uid))?.advice, "USAGE_ADVICE_REMOVE");
      assert.equal(await get(identity, `/iam/v2beta1/groups/${folder}`), 200);
      assert.equal((await used(root, uid)).advice, undefined);
    });

    it("a list of unused access has pages with a total, and is refused for fewer than 7 and more than 400 days", async () => {
      const crowd = await addGroup(at(300), root, "crowd");
      const uids: string[] = [];
      for (let i = 0; i < 5; i++) uids.push((await addOld(crowd)).uid);
      for (const query of [{ pageSize: "2" }, { pageSize: "2", showUsed: "true" }]) {
        const { items, total } = await listAll(crowd, query as Record<string, string>);
        assert.deepEqual(
          (items as Row[]).map(({ binding }) => binding.roleBindingUid),
          uids.toSorted(),
        );
        assert.equal(total, 5);
      }
      const { items } = await listAll(crowd, { skip: "3" });
      assert.equal(items.length, 2);
      for (const unusedDays of ["6", "401", "-1"]) assert.equal((await listAll(crowd, { unusedDays })).status, 400);
    });

    it("needs role_bindings.list at the group, and hides the names of people who have not joined", async () => {
      const guest = await addPerson(server, "Guest", "guest@secret.example", undefined);
      const uid = await bind(at(250), folder, guest, viewerRole.uid);
      assert.deepEqual((await find(folder, uid))?.identity, { uid: guest });
      const stranger = await addCaller(server, await addGroup(server, null, "other"), ownerRole.uid);
      assert.equal((await listAll(folder, {}, stranger.token)).status, 403);
      const local = await addCaller(server, folder, viewerRole.uid);
      assert.equal((await listAll(root, {}, local.token)).status, 403);
      assert.equal((await listAll(folder, {}, local.token)).status, 200);
    });

    it("uses are deleted with the identity, so a new one with its uid has none", async () => {
      const { identity, uid } = await addOld(folder);
      assert.equal(await get(identity, `/iam/v2beta1/groups/${folder}`), 200);
      await used(folder, uid);
      const row = await findRow(server.server.database.session, identityCollection, identity);
      for (const path of [`roleBindings/${uid}`, `identities/${identity}`])
        assert.equal((await rest(server.url, owner.token, "DELETE", `/iam/v2beta1/${path}`)).status, 200);
      await arrange(at(300), (tx) => insertRow(tx, identityCollection, row!));
      const again = await bind(at(250), folder, identity, viewerRole.uid);
      assert.equal((await find(folder, again))?.advice, "USAGE_ADVICE_REMOVE");
    });
  });

  it(`a server without recording has no advice (${database})`, async () => {
    await using server = await startTestServer({ database, settings: { accessUsage: "off" } });
    const past = { server: server.server, clock: () => Date.now() - 300 * dayMs };
    const group = await addGroup(past, null, "example.org");
    const owner = await addCaller(server, group, ownerRole.uid);
    const uid = await bind(past, group, await addIdentity(past, group), viewerRole.uid);
    const { items, first } = await readPages(
      server,
      owner.token,
      `/access/v1/groups/${group}:unusedAccess`,
      "bindings",
      {},
    );
    assert.equal(first.recordedSinceTime, undefined);
    const row = (items as Row[]).find(({ binding }) => binding.roleBindingUid === uid);
    assert.deepEqual([row?.advice, row?.observedSinceTime], ["USAGE_ADVICE_TOO_EARLY", undefined]);
  });
}
