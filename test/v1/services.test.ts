// Tests of version 1 that no API case can express.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { codeName } from "../../src/aip/errors.ts";
import { capabilitySet } from "../../src/model/capabilities.ts";
import { newChild } from "../../src/model/uid.ts";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { readChanges } from "../../src/storage/change-log/change-log.ts";
import { findRow, insertRow } from "../../src/storage/collection/rows.ts";
import { subscriptionCollection } from "../../src/storage/events/rows.ts";
import { identityCollection } from "../../src/storage/iam/collections.ts";
import { writeReadme } from "../../src/storage/registry/repos-and-tags.ts";
import { repoCollection } from "../../src/storage/registry/rows.ts";
import { v1Limits } from "../../src/v1/limits.ts";
import { type ApiClient, type Outcome, openApiClient } from "../harness/api-clients.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addRepo, imageDigest } from "../security/registry-tree.ts";
import { addGroup, addIdentity, arrange, operatorRole, ownerRole, viewerRole } from "../security/tree.ts";

let server: TestServer;
let grpc: ApiClient;

async function call(method: string, request: JsonObject, token = server.ownerToken): Promise<Outcome> {
  return await grpc.call(token, `/chainguard.platform.${method}`, request);
}

async function answer<T = JsonObject>(method: string, request: JsonObject, token?: string): Promise<T> {
  const { code, message, response } = await call(method, request, token);
  assert.equal(codeName(code), "OK", `${method}: ${message}`);
  return response as T;
}

describe("version 1 over gRPC", () => {
  before(async () => {
    server = await startTestServer();
    grpc = openApiClient("grpc", server.url);
  });
  after(async () => {
    grpc[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });

  describe("Identities/Lookup", () => {
    const person = { issuer: "https://accounts.google.com", subject: "registered" };

    it("returns the id of a registered user, and nothing else", async () => {
      const uid = userUid(person.issuer, person.subject);
      const source = await addIdentity(server, server.groupUid);
      await arrange(server, async (tx) => {
        const row = (await findRow(tx, identityCollection, source))!;
        await insertRow(tx, identityCollection, { ...row, uid, parent: null, email: "person@example.org" });
      });
      const nobody = await server.tokenOf(await addIdentity(server, server.groupUid));
      assert.deepEqual(await answer("iam.Identities/Lookup", person, nobody), { id: uid });
    });
  });

  describe("GroupInvites/CreateWithGroup", () => {
    const request = { group: "acme", ttl: "60s", role: ownerRole.uid };

    it("creates an organization that its creator owns, and an invite to it", async () => {
      const { id, code, role } = await answer<{ id: string; code: string; role: JsonObject }>(
        "iam.GroupInvites/CreateWithGroup",
        request,
      );
      assert.match(id, /^[0-9a-f]{40}\/[0-9a-f]{16}$/);
      assert.match(code, /^[0-9a-f]{96}$/);
      assert.equal(role.name, "owner");
      const root = id.slice(0, 40);
      const { items } = await answer<{ items: JsonObject[] }>("iam.Groups/List", { id: root });
      assert.deepEqual(items, [{ id: root, name: "acme" }]);
      const bindings = await answer<{ items: JsonObject[] }>("iam.RoleBindings/List", { uidp: { childrenOf: root } });
      assert.deepEqual(
        bindings.items.map(({ identity }) => identity),
        [server.ownerUid],
      );
    });

    it("creates neither if one of them is invalid", async () => {
      const count = async () =>
        (await answer<{ items: JsonObject[] }>("iam.Groups/List", { uidp: { inRoot: true } })).items.length;
      const existing = await count();
      const custom = await answer("iam.Roles/Create", {
        parentId: server.groupUid,
        role: { name: "custom", capabilities: ["groups.list"] },
      });
      const wrong: readonly [change: JsonObject, code: string][] = [
        [{ group: "NO" }, "INVALID_ARGUMENT"],
        [{ ttl: "0s" }, "INVALID_ARGUMENT"],
        [{ role: "x" }, "INVALID_ARGUMENT"],
        [{ role: "0".repeat(40) }, "NOT_FOUND"],
        [{ role: custom.id! }, "PERMISSION_DENIED"],
        // Nobody can give away a role with capabilities that an owner does not hold, not even at a group of their own.
        [{ role: operatorRole.uid }, "PERMISSION_DENIED"],
      ];
      for (const [change, code] of wrong) {
        const outcome = await call("iam.GroupInvites/CreateWithGroup", { ...request, ...change });
        assert.equal(codeName(outcome.code), code, outcome.message);
      }
      assert.equal(await count(), existing);
    });

    it("names the fields of its own request", async () => {
      const { message } = await call("iam.GroupInvites/CreateWithGroup", { ...request, group: "NO" });
      assert.equal(message, 'Invalid argument: group: name must match "^[a-z0-9 ._-]{1,}$"');
    });

    it("is denied for a narrowed token and for a viewer", async () => {
      const capabilities = capabilitySet([
        Capability.CAP_IAM_GROUPS_CREATE,
        Capability.CAP_IAM_GROUP_INVITES_CREATE,
        Capability.CAP_IAM_ROLE_BINDINGS_CREATE,
      ]);
      const viewer = await addIdentity(server, server.groupUid);
      await answer("iam.RoleBindings/Create", {
        parent: server.groupUid,
        roleBinding: { identity: viewer, role: viewerRole.uid },
      });
      const tokens = [
        await server.tokenOf(server.ownerUid, { capabilities }),
        await server.tokenOf(server.ownerUid, { scopes: [server.groupUid] }),
        await server.tokenOf(viewer),
      ];
      for (const token of tokens) {
        assert.equal(
          codeName((await call("iam.GroupInvites/CreateWithGroup", request, token)).code),
          "PERMISSION_DENIED",
        );
      }
    });
  });

  describe("lists", () => {
    it("read all pages in order, and fail instead of being cut at their limit", async () => {
      const group = await addGroup(server, server.groupUid);
      const add = (count: number) =>
        arrange(server, async (tx) => {
          for (let i = 0; i < count; i++) {
            const row = { uid: newChild(group), parent: group, sink: "https://example.org/", createTime: 1 };
            await insertRow(tx, subscriptionCollection, row);
          }
        });
      const filter = { uidp: { childrenOf: group } };
      await add(401);
      const { items } = await answer<{ items: { id: string }[] }>("events.Subscriptions/List", filter);
      assert.equal(items.length, 401);
      const ids = items.map(({ id }) => id);
      assert.deepEqual(ids, [...new Set(ids)].sort());
      await add(v1Limits.v1ListItems - 400);
      const { code, message } = await call("events.Subscriptions/List", filter);
      assert.equal(codeName(code), "RESOURCE_EXHAUSTED");
      assert.match(message, /more than 10000 items.*ListSubscriptions/);
    });
  });

  it("returns what the current methods return about images, with shorter names", async () => {
    const repoId = await addRepo(server, server.groupUid);
    const request = { repoId, digest: imageDigest };
    assert.deepEqual(await answer("registry.Registry/GetArchs", request), { archs: ["amd64"] });
    assert.deepEqual(await answer("registry.Registry/GetSize", request), { size: "1", arch: "amd64" });
    const { code, message } = await call("registry.Registry/GetSize", { ...request, arch: "arm64" });
    assert.deepEqual([codeName(code), /arm64/.test(message)], ["NOT_FOUND", true]);
  });

  it("deprecated tags are listed by page", async () => {
    const repoId = await addRepo(server, server.groupUid);
    const names = ["1.0", "1.1", "1.2"];
    for (const name of names) await answer("registry.Registry/CreateTag", { repoId, tag: { name, deprecated: true } });
    const filter = { uidp: { childrenOf: repoId }, pageSize: "2" };
    type Page = { items: { name: string }[]; nextPageToken?: string };
    const first = await answer<Page>("registry.Registry/ListEolTags", filter);
    const pageToken = first.nextPageToken ?? "";
    const second = await answer<Page>("registry.Registry/ListEolTags", { ...filter, pageToken });
    assert.deepEqual([first.items.length, second.items.length, second.nextPageToken], [2, 1, undefined]);
    assert.deepEqual([...first.items, ...second.items].map(({ name }) => name).sort(), names);
    const others: readonly [method: string, request: JsonObject][] = [
      ["registry.Registry/ListEolTags", { pageToken }],
      ["registry.v2beta1.TagsService/ListTags", { uidp: filter.uidp, pageToken }],
    ];
    for (const [method, request] of others) {
      assert.match(
        (await call(method, request)).message,
        /^Invalid argument: page_token: was made for another/,
        method,
      );
    }
  });

  describe("the readmes of a list", () => {
    type Repos = { items: { id: string; readme?: string }[] };
    const list = (filter: JsonObject) => answer<Repos>("registry.Registry/ListRepos", filter);

    /** Adds a repo for each readme; answers their uids. */
    const add = (group: string, readmes: readonly string[]) =>
      arrange(server, async (tx) => {
        const row = { catalogTier: 0, bundles: [], aliases: [], activeTags: [], createTime: 1, updateTime: 1 };
        const uids = readmes.map(() => newChild(group));
        for (const [i, uid] of uids.entries()) {
          await insertRow(tx, repoCollection, { ...row, uid, parent: group, name: uid.slice(-16), description: "" });
          if (readmes[i]) await writeReadme(tx, uid, readmes[i]);
        }
        return uids;
      });

    it("are returned unless they are too long for one response", async () => {
      const group = await addGroup(server, server.groupUid);
      const readme = "a".repeat(65_536);
      const fits = v1Limits.v1ListReadmes / readme.length;
      await add(group, [readme, readme]);
      const filter = { uidp: { childrenOf: group } };
      const { items } = await list(filter);
      assert.deepEqual(
        items.map((item) => item.readme?.length),
        [readme.length, readme.length],
      );
      await add(group, Array(fits).fill(readme));
      const { code, message } = await call("registry.Registry/ListRepos", filter);
      assert.equal(codeName(code), "RESOURCE_EXHAUSTED");
      // Not by the client, which takes no message of that length.
      assert.match(message, /the readmes of the list are too long/);
      const [one] = items;
      const alone = await list({ id: one!.id });
      assert.equal(alone.items[0]?.readme, readme);
    });

    it("belong to their repos, in a list of any length", async () => {
      const group = await addGroup(server, server.groupUid);
      const readmes = Array.from({ length: 450 }, (_, i) => (i === 7 ? "" : `readme ${i}`));
      const uids = await add(group, readmes);
      const { items } = await list({ uidp: { childrenOf: group } });
      const found = new Map(items.map(({ id, readme = "" }) => [id, readme]));
      assert.deepEqual(
        uids.map((uid) => found.get(uid)),
        readmes,
      );
    });
  });

  it("the change log names the method that was called", async () => {
    const { session } = server.server.database;
    const { id } = await answer<{ id: string }>("iam.Groups/Create", {
      parent: server.groupUid,
      group: { name: "logged" },
    });
    const changes = await readChanges(session, 0, 1_000_000);
    const methods = changes.filter((change) => change.uid === id).map(({ method }) => method);
    assert.deepEqual(methods, ["/chainguard.platform.iam.Groups/Create"]);
  });
});
