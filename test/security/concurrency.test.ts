// Q: what happens when calls meet.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { stopPostgres } from "../harness/postgres.ts";
import { codeOf, type Ground, methodPath, openGround, replyOf } from "./ground.ts";
import { addCaller, addGroup, addIdentity, ownerRole, viewerRole } from "./tree.ts";

after(stopPostgres);

for (const database of ["sqlite", "postgres"] as const) {
  describe(`calls that meet, on ${database}`, () => {
    let ground: Ground;
    let root: string;
    let token: string;
    before(async () => {
      ground = await openGround({ database });
      root = await addGroup(ground.server, null, "root");
      ({ token } = await addCaller(ground.server, root, ownerRole.uid));
    });
    after(() => ground[Symbol.asyncDispose]());

    const call = (door: number, method: string, request: JsonObject) =>
      ground.doors[door % 4]!.call(token, methodPath(method), request);

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
      it(`Q1: of deleting a group and creating ${what} in it exactly one wins, and there is no orphan`, async () => {
        for (let round = 0; round < 12; round++) {
          const parent = await addGroup(ground.server, root);
          const create = { parent, ...(await body(parent)) };
          const [first, second] = round % 2 === 0 ? ["delete", "create"] : ["create", "delete"];
          const run = (which: string | undefined, door: number) =>
            which === "delete" ? call(door, "GroupsService/DeleteGroup", { uid: parent }) : call(door, method, create);
          const outcomes = await Promise.all([run(first, round), run(second, round + 1)]);
          const [deleted, created] = (first === "delete" ? outcomes : outcomes.toReversed()).map(codeOf);
          assert.equal([deleted, created].filter((code) => code === "OK").length, 1, `${deleted} ${created}`);
          assert.match(
            `${deleted} ${created}`,
            /^(OK (NOT_FOUND|FAILED_PRECONDITION|ABORTED)|(FAILED_PRECONDITION|ABORTED) OK)$/,
          );
          const still = codeOf(await call(0, "GroupsService/GetGroup", { uid: parent }));
          assert.equal(still, created === "OK" ? "OK" : "NOT_FOUND");
        }
      });
    }

    it("Q4: one binding asked for by many at once is there once", async () => {
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

    it("R10: two owners who leave at once leave one behind", async () => {
      for (let round = 0; round < 6; round++) {
        const organization = await addGroup(ground.server, null, "pair");
        const pair = [
          await addCaller(ground.server, organization, ownerRole.uid),
          await addCaller(ground.server, organization, ownerRole.uid),
        ];
        const outcomes = await Promise.all(
          pair.map(({ token: own, binding }, i) =>
            ground.doors[i]!.call(own, methodPath("RoleBindingsService/DeleteRoleBinding"), { uid: binding }),
          ),
        );
        assert.ok(outcomes.map(codeOf).filter((code) => code === "OK").length <= 1, "nobody owns the organization");
      }
    });

    it("Q5: tuples that run together into the same text stay apart", async () => {
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
