// Q: what happens when calls meet.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { codeOf, type Ground, methodPath, openGround, replyOf } from "./ground.ts";
import { addRepo, imageDigest } from "./registry-tree.ts";
import { addCaller, addGroup, addIdentity, addRole, ownerRole, viewerRole } from "./tree.ts";

after(stopPostgres);

/** Resources with the requests that refer to them, and whether a reference prevents the deletion. */
const referred: readonly {
  readonly what: string;
  readonly deletion: string;
  readonly creation: string;
  readonly stays: boolean;
  readonly arrange: (ground: Ground, root: string) => Promise<{ uid: string; requests: readonly JsonObject[] }>;
}[] = [
  {
    what: "a repo and creating tags in it",
    deletion: "ReposService/DeleteRepo",
    creation: "TagsService/CreateTag",
    stays: false,
    async arrange({ server }, root) {
      const uid = await addRepo(server, root);
      const tags = ["a", "b", "c", "d"].map((name) => ({ name, digest: imageDigest }));
      return { uid, requests: tags.map((tag) => ({ parent: uid, tag })) };
    },
  },
  {
    what: "an identity and binding it",
    deletion: "IdentitiesService/DeleteIdentity",
    creation: "RoleBindingsService/CreateRoleBinding",
    stays: false,
    async arrange({ server }, root) {
      const [uid, role] = [await addIdentity(server, root), await addRole(server, root, [])];
      const roles = [role, viewerRole.uid];
      return { uid, requests: roles.map((roleUid) => ({ parent: root, roleBinding: { identityUid: uid, roleUid } })) };
    },
  },
  {
    what: "a role and binding it",
    deletion: "RolesService/DeleteRole",
    creation: "RoleBindingsService/CreateRoleBinding",
    stays: true,
    async arrange({ server }, root) {
      const uid = await addRole(server, root, []);
      const bound = [await addIdentity(server, root), await addIdentity(server, root), await addIdentity(server, root)];
      return {
        uid,
        requests: bound.map((identityUid) => ({ parent: root, roleBinding: { identityUid, roleUid: uid } })),
      };
    },
  },
];

for (const database of databases) {
  describe(`concurrent calls, on ${database}`, () => {
    let ground: Ground;
    let root: string;
    let token: string;
    before(async () => {
      ground = await openGround({ database });
      root = await addGroup(ground.server, null, "root");
      ({ token } = await addCaller(ground.server, root, ownerRole.uid));
    });
    after(() => ground[Symbol.asyncDispose]());

    const call = (apiClient: number, method: string, request: JsonObject) =>
      ground.apiClients[apiClient % 4]!.call(token, methodPath(method), request);

    const contents: readonly [string, string, (parent: string) => Promise<JsonObject>][] = [
      ["a group", "GroupsService/CreateGroup", async () => ({ group: { name: "child" } })],
      [
        "a role",
        "RolesService/CreateRole",
        async () => ({ role: { name: "r", capabilities: ["CAP_IAM_GROUPS_LIST"] } }),
      ],
      [
        "a binding",
        "RoleBindingsService/CreateRoleBinding",
        async () => ({ roleBinding: { identityUid: await addIdentity(ground.server, root), roleUid: viewerRole.uid } }),
      ],
    ];
    for (const [what, method, body] of contents) {
      it(`Q1: either the deletion of a group or the creation of ${what} in it succeeds, and no orphan is left`, async () => {
        for (let round = 0; round < 12; round++) {
          const parent = await addGroup(ground.server, root);
          const create = { parent, ...(await body(parent)) };
          const [first, second] = round % 2 === 0 ? ["delete", "create"] : ["create", "delete"];
          const run = (which: string | undefined, apiClient: number) =>
            which === "delete"
              ? call(apiClient, "GroupsService/DeleteGroup", { uid: parent })
              : call(apiClient, method, create);
          const outcomes = await Promise.all([run(first, round), run(second, round + 1)]);
          const [deleted, created] = (first === "delete" ? outcomes : outcomes.toReversed()).map(codeOf);
          assert.equal([deleted, created].filter((code) => code === "OK").length, 1, `${deleted} ${created}`);
          assert.match(`${deleted} ${created}`, /^(OK NOT_FOUND|FAILED_PRECONDITION OK)$/);
          const still = codeOf(await call(0, "GroupsService/GetGroup", { uid: parent }));
          assert.equal(still, created === "OK" ? "OK" : "NOT_FOUND");
        }
      });
    }

    for (const { what, deletion, creation, stays, arrange } of referred) {
      it(`Q1: after the deletion of ${what}, the later call gets an error about the current state`, async () => {
        for (let round = 0; round < 12; round++) {
          const { uid, requests } = await arrange(ground, root);
          const calls = requests.map((request, i) => call(i, creation, request));
          const deleted = codeOf(await call(round, deletion, { uid }));
          const created = (await Promise.all(calls)).map(codeOf);
          const seen = `${deleted}: ${created}`;
          if (stays && created.includes("OK")) assert.equal(deleted, "FAILED_PRECONDITION", seen);
          else assert.equal(deleted, "OK", seen);
          assert.ok(
            created.every((code) => code === "OK" || code === "NOT_FOUND"),
            seen,
          );
        }
      });
    }

    it("Q4: concurrent requests for one binding create it once", async () => {
      const identityUid = await addIdentity(ground.server, root);
      const request = { parent: root, roleBinding: { identityUid, roleUid: viewerRole.uid } };
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => call(i, "RoleBindingsService/CreateRoleBinding", request)),
      );
      const codes = outcomes.map(codeOf);
      assert.equal(codes.filter((code) => code === "OK").length, 1);
      assert.ok(
        codes.every((code) => code === "OK" || code === "ALREADY_EXISTS"),
        codes.join(),
      );
      const list = replyOf(await call(0, "RoleBindingsService/ListRoleBindings", { identity: identityUid }));
      assert.equal(list.totalCount, "1");
    });

    it("R10: one of two owners who leave concurrently remains", async () => {
      for (let round = 0; round < 6; round++) {
        const organization = await addGroup(ground.server, null, "pair");
        const pair = [
          await addCaller(ground.server, organization, ownerRole.uid),
          await addCaller(ground.server, organization, ownerRole.uid),
        ];
        const outcomes = await Promise.all(
          pair.map(({ token: own, binding }, i) =>
            ground.apiClients[i]!.call(own, methodPath("RoleBindingsService/DeleteRoleBinding"), { uid: binding }),
          ),
        );
        assert.ok(outcomes.map(codeOf).filter((code) => code === "OK").length <= 1, "nobody owns the organization");
      }
    });

    it("Q5: distinguishes tuples whose concatenations are equal", async () => {
      const lookup = async (issuer: string, subject: string) =>
        replyOf(await call(0, "IdentitiesService/LookupIdentity", { issuer, subject })).uid;
      assert.notEqual(await lookup("https://a.example/", "bc"), await lookup("https://a.example/b", "c"));
      assert.notEqual(await lookup("1:a", "b"), await lookup("1", ":ab"));
      for (const name of ["ab", "b"]) for (let i = 0; i < 2; i++) await addGroup(ground.server, root, name);
      const page = async (request: JsonObject) => call(0, "GroupsService/ListGroups", { pageSize: 1, ...request });
      const { nextPageToken } = replyOf(await page({ name: "ab" }));
      assert.ok(nextPageToken);
      assert.equal(codeOf(await page({ name: "b", pageToken: nextPageToken as string })), "INVALID_ARGUMENT");
    });
  });
}
