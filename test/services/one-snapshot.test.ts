// A response shows one snapshot, while another node changes the data. The change is made before each request that the
// node sends to PostgreSQL in turn, so no interleaving is left out.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { createGroup } from "../../src/services/iam/bootstrap.ts";
import { insertAcceptance } from "../../src/services/iam/terms/terms.ts";
import { deleteRow, findRow } from "../../src/storage/collection/rows.ts";
import { groupCollection } from "../../src/storage/iam/collections.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { isQuick } from "../harness/quick.ts";
import { type RestReply, rest } from "../harness/rest.ts";
import type { TestServer } from "../harness/server.ts";
import { startTwoNodes, type TwoNodes } from "../harness/two-nodes.ts";
import { addRepo, addTag } from "../security/registry-tree.ts";
import { addGroup, addIdentity, arrange, bind } from "../security/tree.ts";

const [viewer, editor] = ["viewer", "editor"].map((wanted) => builtInRoles.find(({ name }) => name === wanted)!.uid);

/** More steps than any of the calls has. */
const maxSteps = 60;

/** The node that changes something, and the node that reads meanwhile, over the proxy. */
let nodes: TwoNodes;
let one: TestServer;
let locks: pg.Client;

after(stopPostgres);

// biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
type Json = any;

/** A method, what changes meanwhile, and what its response must be. */
interface Race<T> {
  readonly name: string;
  /** The data before the change, created for each step. */
  arrange(): Promise<T>;
  ask(made: T): Promise<RestReply>;
  change(made: T): Promise<unknown>;
  /** Fails unless the response is of one moment. */
  check(reply: RestReply, made: T): void;
}

const get = (path: string) => rest(nodes.other.url, one.ownerToken, "GET", path);
const send = (method: string, path: string, body: unknown) => rest(nodes.other.url, one.ownerToken, method, path, body);

async function change(method: string, path: string, body?: unknown): Promise<Json> {
  const { status, body: reply } = await rest(one.url, one.ownerToken, method, path, body);
  assert.equal(status, 200, JSON.stringify(reply));
  return reply;
}

async function addBound() {
  const group = await addGroup(one, one.groupUid, "bound");
  const identity = await addIdentity(one, group, { name: "someone" });
  return { group, identity, binding: await bind(one, group, identity, viewer!) };
}

const deleteIdentity = async ({ identity }: { readonly identity: string }) =>
  change("DELETE", `/iam/v2beta1/identities/${identity}`);

/** The identity of each binding has its name, as long as the binding is shown. */
function assertNamed(bindings: readonly Json[]): void {
  for (const { identity, group, role } of bindings)
    assert.deepEqual([identity.name, group.name, role.uid ?? role.id], ["someone", "bound", role.uid ?? role.id]);
}

/** The response of a method that may have come too late: to what is gone there is no access either. */
function assertFound({ status, body }: RestReply, check: (body: Json) => void): void {
  if (![403, 404, 409].includes(status)) assert.equal(status, 200, JSON.stringify(body));
  if (status === 200) check(body);
}

async function addOrganization() {
  const name = `org-${made++}`;
  const { uid: root } = await change("POST", "/iam/v2beta1/groups", { name, kind: "ORG_KIND_CUSTOMER" });
  return { root, group: await addGroup(one, root, "team") };
}
let made = 0;
let large: { readonly parent: string; readonly uids: string[] } | undefined;

async function deleteOrganization({ root, group }: { readonly root: string; readonly group: string }) {
  await change("DELETE", `/iam/v2beta1/groups/${group}`);
  await change("DELETE", `/iam/v2beta1/groups/${root}`);
}

async function addRepoWithReadme() {
  const group = await addGroup(one, one.groupUid, "images");
  const repo = await addRepo(one, group);
  await addTag(one, repo);
  await change("PATCH", `/registry/v2beta1/repos/${repo}/readme`, { content: "# Readme" });
  return { group, repo };
}

const deleteRepo = async ({ repo }: { readonly repo: string }) => change("DELETE", `/registry/v2beta1/repos/${repo}`);

function race<T>(each: Race<T>): Race<unknown> {
  return each as Race<unknown>;
}

const races: readonly Race<unknown>[] = [
  race({
    name: "GetRoleBinding while the identity is deleted",
    arrange: addBound,
    ask: ({ binding }) => get(`/iam/v2beta1/roleBindings/${binding}`),
    change: (made) => deleteIdentity(made),
    check: (reply) => assertFound(reply, (body) => assertNamed([body])),
  }),
  race({
    name: "ListRoleBindings while an identity is deleted",
    arrange: addBound,
    ask: ({ group }) => get(`/iam/v2beta1/roleBindings?uidp.descendantsOf=${group}`),
    change: (made) => deleteIdentity(made),
    check: ({ body }) => {
      assertNamed(body.roleBindings);
      assert.equal(Number(body.totalCount), body.roleBindings.length);
    },
  }),
  race({
    name: "the list of role bindings of version 1 while an identity is deleted with its group",
    arrange: addBound,
    ask: ({ group }) => get(`/iam/v1/rolebindings?uidp.descendantsOf=${group}`),
    async change(made) {
      await deleteIdentity(made);
      await change("DELETE", `/iam/v2beta1/groups/${made.group}`);
    },
    check: ({ body }) => {
      for (const { group, role } of body.items) assert.deepEqual([group.name, role.name], ["bound", "viewer"]);
      for (const { role } of body.items) assert.ok(role.capabilities.length > 0);
    },
  }),
  race({
    name: "CreateRoleBinding while the identity is deleted",
    arrange: addBound,
    ask: ({ group, identity }) =>
      send("POST", `/iam/v2beta1/roleBindings/${group}`, { identityUid: identity, roleUid: editor }),
    change: (made) => deleteIdentity(made),
    check: (reply) => assertFound(reply, (body) => assertNamed([body])),
  }),
  race({
    name: "BatchCreateRoleBindings while the identity is deleted",
    arrange: addBound,
    ask: ({ group: parent, identity: identityUid }) =>
      send("POST", "/iam/v2beta1/roleBindings:batchCreate", {
        parent,
        roleUid: editor,
        requests: [{ roleBinding: { identityUid } }],
      }),
    change: (made) => deleteIdentity(made),
    check: (reply) => assertFound(reply, (body) => assertNamed(body.roleBindings)),
  }),
  race({
    name: "UpdateRoleBinding while the identity is deleted",
    arrange: addBound,
    ask: ({ binding }) => send("PATCH", `/iam/v2beta1/roleBindings/${binding}`, { roleUid: editor }),
    change: (made) => deleteIdentity(made),
    check: (reply) => assertFound(reply, (body) => assertNamed([body])),
  }),
  race({
    name: "ExplainAccess of the caller while the binding is deleted",
    async arrange() {
      const { group, identity, binding } = await addBound();
      return { group, binding, token: await one.tokenOf(identity) };
    },
    ask: ({ group, token }) =>
      rest(nodes.other.url, token, "GET", `/access/v1/explain?group=${group}&capability=groups.list`),
    change: ({ binding }) => change("DELETE", `/iam/v2beta1/roleBindings/${binding}`),
    check: ({ body }) => assert.equal(body.granted, body.granting.length > 0),
  }),
  race({
    name: "GetGroup while the organization is deleted",
    arrange: addOrganization,
    ask: ({ group }) => get(`/iam/v2beta1/groups/${group}`),
    change: deleteOrganization,
    check: (reply) => assertFound(reply, ({ kind }) => assert.equal(kind, "ORG_KIND_CUSTOMER")),
  }),
  race({
    name: "ListGroups while the organization is deleted",
    arrange: addOrganization,
    ask: ({ root }) => get(`/iam/v2beta1/groups?uidp.descendantsOf=${root}`),
    change: deleteOrganization,
    check: ({ body }) => {
      for (const { kind } of body.groups) assert.equal(kind, "ORG_KIND_CUSTOMER");
    },
  }),
  race({
    name: "UpdateGroup while the organization is deleted",
    arrange: addOrganization,
    ask: ({ group }) => send("PATCH", `/iam/v2beta1/groups/${group}`, { description: "of ours" }),
    change: deleteOrganization,
    check: (reply) => assertFound(reply, ({ kind }) => assert.equal(kind, "ORG_KIND_CUSTOMER")),
  }),
  race({
    name: "the list of repos of version 1 while a repo is deleted",
    arrange: addRepoWithReadme,
    ask: ({ group }) => get(`/registry/v1/repos?uidp.descendantsOf=${group}`),
    change: (made) => deleteRepo(made),
    check: ({ body }) => {
      for (const { readme } of body.items) assert.equal(readme, "# Readme");
    },
  }),
  race({
    name: "the update of a repo of version 1 while its readme is changed",
    arrange: addRepoWithReadme,
    ask: ({ repo }) => send("PUT", `/registry/v1/repos/${repo}`, { name: "renamed", readme: "# Of version 1" }),
    change: ({ repo }) => change("PATCH", `/registry/v2beta1/repos/${repo}/readme`, { content: "# Of today" }),
    check: (reply) => assertFound(reply, ({ readme }) => assert.equal(readme, "# Of version 1")),
  }),
  race({
    name: "the summary of the tags of a repo while it is deleted",
    arrange: addRepoWithReadme,
    ask: ({ repo }) => get(`/registry/v1/repotagssummary/${repo}`),
    change: (made) => deleteRepo(made),
    check: (reply) => assertFound(reply, ({ tagCount }) => assert.equal(Number(tagCount), 1)),
  }),
  race({
    name: "ListTermsAcceptances while the organization is deleted",
    async arrange() {
      const { root, group } = await addOrganization();
      await change("DELETE", `/iam/v2beta1/groups/${group}`);
      await arrange(one, (tx) => insertAcceptance(tx, root, "eula", one.ownerUid));
      return root;
    },
    ask: (root) => get(`/iam/v2beta1/terms/${root}`),
    change: (root) => change("DELETE", `/iam/v2beta1/groups/${root}`),
    check: (reply) => assertFound(reply, (body) => assert.equal(body.termsAcceptances.length, 1)),
  }),
  race({
    name: "a list of version 1 of several pages while something of the first and of the last page is deleted",
    async arrange() {
      large ??= { parent: await addGroup(one, one.groupUid, "large"), uids: [] };
      const { parent, uids } = large;
      await arrange(one, async (tx) => {
        while (uids.length < 201) uids.push((await createGroup(tx, parent, `g${made++}`, "")).uid);
      });
      uids.sort();
      return { parent, ends: [uids.shift()!, uids.pop()!] };
    },
    ask: ({ parent }) => get(`/iam/v1/groups?uidp.descendantsOf=${parent}`),
    change: ({ ends }) =>
      arrange(one, async (tx) => {
        for (const uid of ends) await deleteRow(tx, groupCollection, (await findRow(tx, groupCollection, uid))!);
      }),
    check: ({ body }, { ends }) => {
      const shown = body.items.filter(({ id }: Json) => ends.includes(id)).length;
      assert.ok(shown === 0 || shown === 2, `${shown}`);
    },
  }),
];

describe("a response from one snapshot", () => {
  before(async () => {
    nodes = await startTwoNodes();
    one = nodes.one;
    locks = new pg.Client({ connectionString: nodes.databaseUrl });
    await locks.connect();
  });
  after(async () => {
    await locks.end();
    await nodes[Symbol.asyncDispose]();
  });

  for (const each of races) it(each.name, () => run(each));
});

/** The points of a call between two changes. */
const stride = isQuick ? 4 : 1;

/** Makes the change at every point of the call in turn, or in `npm test` at every fourth. */
async function run({ arrange: prepare, ask, change, check }: Race<unknown>): Promise<void> {
  await ask(await prepare());
  for (let step = 0, isReached = true; isReached; step += stride) {
    assert.ok(step < maxSteps);
    const made = await prepare();
    let seen = 0;
    let changed: Promise<unknown> | undefined;
    nodes.proxy.beforeRequest = async () => {
      if (seen++ !== step) return;
      changed = change(made);
      await doneOrBlocked(changed);
    };
    const reply = await ask(made);
    nodes.proxy.beforeRequest = undefined;
    isReached = changed !== undefined;
    await changed?.catch(() => {});
    check(reply, made);
  }
}

/** Resolves when the change is made, or has to wait for a lock of the call, after which it then comes. */
async function doneOrBlocked(change: Promise<unknown>): Promise<void> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  change.then(over, over);
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    if ((await locks.query("SELECT FROM pg_locks WHERE NOT granted")).rowCount) return;
  }
}
