// Limits that depend on settings or on time.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { hourMs, testClock } from "./fixtures.ts";

const groups = "/iam/v2beta1/groups";

/** Returns a token of an organization owner who does not operate the installation. */
async function plainOwner(server: TestServer): Promise<string> {
  const { url, ownerToken, groupUid } = server;
  const identity = { name: "plain", claimMatch: { issuer: "https://issuer.example.org", subject: "plain" } };
  const { body } = await rest(url, ownerToken, "POST", `/iam/v2beta1/identities/${groupUid}`, identity);
  const { body: found } = await rest(url, ownerToken, "GET", "/iam/v2beta1/roles?name=owner");
  const binding = { identityUid: body.uid, roleUid: found.roles[0].uid };
  await rest(url, ownerToken, "POST", `/iam/v2beta1/roleBindings/${groupUid}`, binding);
  return await server.tokenOf(body.uid);
}

describe("limits of the services", () => {
  it("groups can be nested 32 levels deep; deeper resources are rejected", async () => {
    await using server = await startTestServer();
    const create = (path: string, body: object) => rest(server.url, server.ownerToken, "POST", path, body);
    let deepest = server.groupUid;
    for (let depth = 2; depth <= 32; depth++) {
      const { status, body } = await create(`${groups}/${deepest}`, { name: `level ${depth}` });
      assert.equal(status, 200, `level ${depth}`);
      deepest = body.uid;
    }
    const { status, body } = await create(`${groups}/${deepest}`, { name: "level 33" });
    assert.deepEqual([status, body.code, body.details[1].violations[0].type], [400, 9, "TOO_DEEP"]);
    assert.equal((await rest(server.url, server.ownerToken, "GET", `${groups}/${deepest}`)).body.name, "level 32");
  });

  it("root groups are created by anyone, or by operators only", async () => {
    for (const [rootGroups, expected] of [
      ["anyone", 200],
      ["operators", 403],
    ] as const) {
      await using server = await startTestServer({ settings: { rootGroups } });
      const owner = await plainOwner(server);
      assert.equal((await rest(server.url, owner, "POST", groups, { name: "theirs" })).status, expected, rootGroups);
      assert.equal((await rest(server.url, server.ownerToken, "POST", groups, { name: "ours" })).status, 200);
      // A child is not a root group.
      assert.equal(
        (await rest(server.url, owner, "POST", `${groups}/${server.groupUid}`, { name: "child" })).status,
        200,
      );
    }
  });

  it("each caller can request access to a group once an hour", async () => {
    const clock = testClock();
    await using server = await startTestServer({ clock: clock.read });
    const asOperator = async (method: string, path: string, body: object) =>
      (await rest(server.url, await server.tokenOf(server.ownerUid), method, path, body)).body;
    const { uid } = await asOperator("POST", groups, {
      name: "acme.example",
      verified: true,
      kind: "ORG_KIND_CUSTOMER",
    });
    const people = [];
    for (const subject of ["one", "two"]) {
      const claimMatch = { issuer: "https://issuer.example.org", subject };
      people.push(
        await asOperator("POST", `/iam/v2beta1/identities/${server.groupUid}`, { name: subject, claimMatch }),
      );
    }
    const ask = async (person: { uid: string }) => {
      const audience = [server.config.baseUrl];
      const act = { iss: "https://accounts.google.com", sub: "x", aud: server.config.baseUrl };
      const said = { email: "x@acme.example", emailVerified: true, act, grants: {}, narrowing: {} };
      const { token } = await server.server.tokens.issue({ subject: person.uid, audience, ...said });
      return (await rest(server.url, token, "POST", `${groups}/${uid}:requestGroupAccess`, {})).status;
    };
    assert.deepEqual([await ask(people[0]), await ask(people[0]), await ask(people[1])], [200, 429, 200]);
    clock.advance(hourMs - 1);
    assert.equal(await ask(people[0]), 429);
    clock.advance(1);
    assert.equal(await ask(people[0]), 200);
  });
});
