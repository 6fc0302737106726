// Tests of rejections by version 1 that need long rows or a role of their own.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { codeName } from "../../src/aip/errors.ts";
import { namesOfNumbers } from "../../src/model/capabilities.ts";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { findRow, updateRow } from "../../src/storage/collection/rows.ts";
import { roleCollection } from "../../src/storage/iam/collections.ts";
import { addTagDigest } from "../../src/storage/registry/tag-history.ts";
import { v1Limits } from "../../src/v1/limits.ts";
import { type ApiClient, openApiClient } from "../harness/api-clients.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addRepo, addTag } from "../security/registry-tree.ts";
import { addCaller, addGroup, addIdentity, addRole, arrange, bind, viewerRole } from "../security/tree.ts";

describe("version 1 rejects", () => {
  let server: TestServer;
  let grpc: ApiClient;
  before(async () => {
    server = await startTestServer();
    grpc = openApiClient("grpc", server.url);
  });
  after(async () => {
    grpc[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });

  const call = (method: string, request: JsonObject, token = server.ownerToken) =>
    grpc.call(token, `/chainguard.platform.${method}`, request);

  async function answer(method: string, request: JsonObject, token?: string): Promise<JsonObject> {
    const { code, message, response } = await call(method, request, token);
    assert.equal(codeName(code), "OK", `${method}: ${message}`);
    return response as JsonObject;
  }

  describe("lists that are longer than a response may be", () => {
    const long = Math.floor(v1Limits.v1ListLength / 15);
    const capability = Capability.CAP_LIBRARIES_AWS_MARKETPLACE_SUBSCRIPTIONS_CREATE;
    const { length } = namesOfNumbers([capability])[0]!;
    const parts: readonly [part: string, description: string, capabilities: number[]][] = [
      ["texts", "a".repeat(long), []],
      // Parts of a role that the current lists do not return.
      ["capabilities", "", Array<number>(Math.ceil(long / length)).fill(capability)],
    ];
    for (const [part, description, capabilities] of parts) {
      it(`rejects lists that are too long by their ${part}, even with few items`, async () => {
        const group = await addGroup(server, server.groupUid);
        const role = await addRole(server, group, capabilities);
        await arrange(server, async (tx) => {
          const row = (await findRow(tx, roleCollection, role))!;
          await updateRow(tx, roleCollection, row, { ...row, description });
        });
        const list = { uidp: { childrenOf: group } };
        const add = async (count: number) => {
          for (let i = 0; i < count; i++) await bind(server, group, await addIdentity(server, group), role);
        };
        await add(1);
        assert.equal(codeName((await call("iam.RoleBindings/List", list)).code), "OK");
        await add(15);
        const { code, message } = await call("iam.RoleBindings/List", list);
        assert.equal(codeName(code), "RESOURCE_EXHAUSTED", message);
        assert.match(message, /longer than \d+ characters.*ListRoleBindings/);
      });
    }
  });

  it("denies a root group with an invite to a caller who may invite but not create groups", async () => {
    const inviting = [Capability.CAP_IAM_GROUP_INVITES_CREATE, Capability.CAP_IAM_ROLE_BINDINGS_CREATE];
    const request = { group: "acme", ttl: "60s", role: viewerRole.uid };
    for (const [capabilities, code] of [
      [inviting, "PERMISSION_DENIED"],
      [[...inviting, Capability.CAP_IAM_GROUPS_CREATE], "OK"],
    ] as const) {
      const organization = await addGroup(server, null, "organization");
      const { token } = await addCaller(server, organization, await addRole(server, organization, capabilities));
      const { code: answered, message } = await call("iam.GroupInvites/CreateWithGroup", request, token);
      assert.equal(codeName(answered), code, message);
    }
  });

  it("rejects returning more than the latest thousand digests of a tag's history", async () => {
    const tag = await addTag(server, await addRepo(server, server.groupUid));
    const from = server.clock() + 1000;
    await arrange(server, async (tx) => {
      for (let i = 0; i < 1001; i++) await addTagDigest(tx, tag, { time: from + i, digest: `sha256:${i}` });
    });
    const { items } = await answer("registry.Registry/ListTagHistory", { parentId: tag });
    const digests = (items as JsonObject[]).map(({ digest }) => digest);
    assert.deepEqual([digests.length, digests[0], digests.at(-1)], [1000, "sha256:1", "sha256:1000"]);
  });

  it("rejects returning a pending user, as the current method does", async () => {
    const person = { issuer: "https://accounts.google.com", subject: "awaited" };
    const roleBinding = { identity: userUid(person.issuer, person.subject), role: viewerRole.uid };
    await answer("iam.RoleBindings/Create", { parent: server.groupUid, roleBinding });
    await answer("iam.v2beta1.IdentitiesService/LookupIdentity", person);
    assert.equal(codeName((await call("iam.Identities/Lookup", person)).code), "NOT_FOUND");
  });

  it("denies replacing a repo to a caller who may only create one", async () => {
    const name = "there";
    const request = { parentId: server.groupUid, repo: { name, description: "as it was" } };
    const { id } = await answer("registry.Registry/CreateRepo", request);
    const role = await addRole(server, server.groupUid, [Capability.CAP_REPO_CREATE, Capability.CAP_REPO_LIST]);
    const { token } = await addCaller(server, server.groupUid, role);
    const other = { ...request, repo: { name, description: "changed" } };
    assert.equal(codeName((await call("registry.Registry/CreateRepo", other, token)).code), "PERMISSION_DENIED");
    const { items } = await answer("registry.Registry/ListRepos", { id: id! }, token);
    assert.equal((items as JsonObject[])[0]?.description, "as it was");
  });
});
