// The names of uids: who may read which, and that a stranger learns nothing from the difference.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { newRoot } from "../../../src/model/uid.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { addProvider } from "../../security/provider-tree.ts";
import { addAdvisory, addRepo, addSubscription, addTag } from "../../security/registry-tree.ts";
import {
  addCaller,
  addGroup,
  addIdentity,
  addPerson,
  addRole,
  bind,
  ownerRole,
  viewerRole,
} from "../../security/tree.ts";

interface ResolvedName {
  readonly uid: string;
  readonly kind?: string;
  readonly name?: string;
  readonly email?: string;
  readonly path?: readonly { readonly uid: string; readonly name?: string }[];
  readonly state: string;
}

/** REST shows an empty list. */
function withoutEmpty({ path, ...name }: ResolvedName): ResolvedName {
  return path?.length ? { ...name, path: path.map(({ uid, name: at }) => (at ? { uid, name: at } : { uid })) } : name;
}

after(stopPostgres);

for (const database of databases) {
  describe(`names of uids (${database})`, () => {
    let server: TestServer;
    let root: string;
    let folder: string;
    let inner: string;
    let other: string;
    let owner: { uid: string; token: string };
    const people: Record<string, string> = {};

    before(async () => {
      server = await startTestServer({ database });
      root = await addGroup(server, null, "example.org");
      folder = await addGroup(server, root, "folder");
      inner = await addGroup(server, folder, "inner");
      other = await addGroup(server, null, "other");
      owner = await addCaller(server, root, ownerRole.uid);
      people.ana = await addPerson(server, "ana lopez", "ana@example.org", root);
      people.ben = await addPerson(server, "ben", "ben@example.org", root);
      people.guest = await addPerson(server, "guest", "guest@secret.example", undefined);
      people.foreign = await addPerson(server, "foreign", "foreign@other.example", other);
      await bind(server, root, people.ana, viewerRole.uid);
      await bind(server, inner, people.guest, viewerRole.uid);
      await bind(server, other, people.foreign, viewerRole.uid);
    });
    after(() => server[Symbol.asyncDispose]());

    async function resolve(uids: readonly string[], token = owner.token): Promise<ResolvedName[]> {
      const { status, body } = await rest(server.url, token, "POST", "/gatehouse/search/v1/names:resolve", { uids });
      assert.equal(status, 200, JSON.stringify(body));
      return body.names.map(withoutEmpty);
    }

    const statesOf = async (uids: readonly string[], token?: string) =>
      (await resolve(uids, token)).map(({ state }) => state.replace("NAME_STATE_", ""));

    it("a name has its kind and the groups above it, in the order of the request", async () => {
      const workload = await addIdentity(server, inner, { name: "deployer" });
      const names = await resolve([workload, root, workload]);
      const path = [
        { uid: root, name: "example.org" },
        { uid: folder, name: "folder" },
        { uid: inner, name: "inner" },
      ];
      const expected = {
        uid: workload,
        kind: "RESOURCE_KIND_IDENTITY",
        name: "deployer",
        path,
        state: "NAME_STATE_KNOWN",
      };
      const organization = { uid: root, kind: "RESOURCE_KIND_GROUP", name: "example.org", state: "NAME_STATE_KNOWN" };
      assert.deepEqual(names, [expected, organization, expected]);
    });

    it("every kind of resource has a name", async () => {
      const repo = await addRepo(server, folder);
      const tag = await addTag(server, repo, { name: "v1" });
      const advisory = await addAdvisory(server, folder);
      const subscription = await addSubscription(server, folder);
      const provider = await addProvider(server, folder);
      const role = await addRole(server, folder, [Capability.CAP_IAM_GROUPS_LIST]);
      const names = await resolve([repo, tag, advisory, subscription, provider, role, viewerRole.uid]);
      const shown = names.map(({ kind = "", name }) => [kind.replace("RESOURCE_KIND_", ""), name]);
      assert.deepEqual(shown, [
        ["REPO", repo.slice(-16)],
        ["TAG", "v1"],
        ["ADVISORY", names[2]?.name],
        ["SUBSCRIPTION", "example.org"],
        ["IDENTITY_PROVIDER", names[4]?.name],
        ["ROLE", "custom"],
        ["ROLE", "viewer"],
      ]);
      assert.deepEqual(names[1]?.path?.at(-1), { uid: repo, name: repo.slice(-16) });
      for (const { name } of names) assert.notEqual(name ?? "", "");
    });

    it("a person who has joined has a name and an address, and one who has not has neither", async () => {
      const [ana, guest] = await resolve([people.ana!, people.guest!]);
      const person = { uid: people.ana, kind: "RESOURCE_KIND_PERSON", name: "ana lopez", email: "ana@example.org" };
      assert.deepEqual(ana, { ...person, state: "NAME_STATE_KNOWN" });
      assert.deepEqual(guest, { uid: people.guest, kind: "RESOURCE_KIND_PERSON", state: "NAME_STATE_NOT_JOINED" });
    });

    it("a member without a role is known where the caller sees the roles of the whole organization", async () => {
      assert.deepEqual(await statesOf([people.ben!]), ["KNOWN"]);
    });

    it("a caller who sees the roles of a subgroup knows people with a role there, below and above, and no others", async () => {
      const { token } = await addCaller(server, folder, viewerRole.uid);
      const below = await addPerson(server, "below", "below@example.org", root);
      const next = await addPerson(server, "next", "next@example.org", root);
      await bind(server, inner, below, viewerRole.uid);
      await bind(server, await addGroup(server, root, "sibling"), next, viewerRole.uid);
      const states = await statesOf([people.ana!, below, people.guest!, next, people.ben!], token);
      assert.deepEqual(states, ["KNOWN", "KNOWN", "NOT_JOINED", "HIDDEN", "HIDDEN"]);
    });

    it("a caller who may not see roles knows nobody", async () => {
      const role = await addRole(server, root, [Capability.CAP_IAM_GROUPS_LIST, Capability.CAP_IAM_IDENTITY_LIST]);
      const { token } = await addCaller(server, root, role);
      assert.deepEqual(await statesOf([people.ana!, people.guest!, folder], token), ["HIDDEN", "HIDDEN", "KNOWN"]);
    });

    it("what another organization has and what never existed are alike", async () => {
      const hidden = [other, await addIdentity(server, other), people.foreign!, await addRepo(server, other)];
      const absent = [newRoot(), `${other}/${"f".repeat(16)}`, `${root}/${"f".repeat(16)}`];
      for (const name of await resolve([...hidden, ...absent]))
        assert.deepEqual(name, { uid: name.uid, state: "NAME_STATE_HIDDEN" });
    });

    it("the path of a resource has no name of a group that the caller may not list", async () => {
      const { token } = await addCaller(server, inner, viewerRole.uid);
      const [found] = await resolve([inner], token);
      assert.deepEqual(found?.path, [{ uid: root }, { uid: folder }]);
    });

    it("organizations that a person has not joined show them nothing, and the call joins none", async () => {
      const uids = [root, folder, people.ana!];
      const guest = await server.tokenOf(people.guest!);
      await bind(server, root, people.guest!, viewerRole.uid);
      assert.deepEqual(await statesOf(uids, guest), ["HIDDEN", "HIDDEN", "HIDDEN"]);
      assert.deepEqual(await statesOf([people.guest!]), ["NOT_JOINED"]);
      const accepted = await rest(server.url, guest, "POST", "/gatehouse/iam/v1/memberships:accept", {
        organization: root,
      });
      assert.equal(accepted.status, 200, JSON.stringify(accepted.body));
      assert.deepEqual(await statesOf(uids, guest), ["KNOWN", "KNOWN", "KNOWN"]);
      assert.deepEqual(await statesOf([people.guest!]), ["KNOWN"]);
    });

    it("a removed role binding of the caller hides names at once", async () => {
      const caller = await addCaller(server, root, viewerRole.uid);
      assert.deepEqual(await statesOf([folder, people.ana!], caller.token), ["KNOWN", "KNOWN"]);
      const gone = await rest(server.url, owner.token, "DELETE", `/iam/v2beta1/roleBindings/${caller.binding}`);
      assert.equal(gone.status, 200);
      assert.deepEqual(await statesOf([folder, people.ana!], caller.token), ["HIDDEN", "HIDDEN"]);
    });

    it("people know themselves, unless their token is narrowed", async () => {
      assert.deepEqual(await statesOf([people.foreign!], await server.tokenOf(people.foreign!)), ["KNOWN"]);
      const narrowed = await server.tokenOf(people.ben!, { scopes: [folder] });
      assert.deepEqual(await statesOf([people.ben!], narrowed), ["HIDDEN"]);
    });

    it("a deleted advisory keeps its name, and other deleted resources are hidden", async () => {
      const advisory = await addAdvisory(server, folder);
      const role = await addRole(server, folder, []);
      const [before] = await resolve([advisory]);
      const capabilities = [Capability.CAP_ADVISORIES_DELETE, Capability.CAP_IAM_ROLES_DELETE];
      const { token } = await addCaller(server, root, await addRole(server, root, capabilities));
      for (const path of [`/vulnerabilities/v1/advisories/${advisory}`, `/iam/v2beta1/roles/${role}`]) {
        const { status, body } = await rest(server.url, token, "DELETE", path);
        assert.equal(status, 200, JSON.stringify(body));
      }
      const [first, second] = await resolve([advisory, role]);
      assert.deepEqual([first?.state, first?.name], ["NAME_STATE_DELETED", before?.name]);
      assert.equal(second?.state, "NAME_STATE_HIDDEN");
      const stranger = await addCaller(server, other, ownerRole.uid);
      assert.deepEqual(await statesOf([advisory], stranger.token), ["HIDDEN"]);
    });

    it("a call has at most 200 uids", async () => {
      const uids = Array.from({ length: 201 }, newRoot);
      const path = "/gatehouse/search/v1/names:resolve";
      const { status, body } = await rest(server.url, owner.token, "POST", path, { uids });
      assert.equal(status, 400);
      assert.match(JSON.stringify(body), /uids: must not have more than 200 items/);
      assert.deepEqual(new Set(await statesOf(uids.slice(1))), new Set(["HIDDEN"]));
    });
  });
}
