// R10: every organization keeps an owner, whichever way one would be lost, and wherever the owner is at home.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { type RestReply, rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { loginSettings, startUpstream, type Upstream } from "../sign-in/openid-client.ts";
import { addCaller, addGroup, bind, ownerRole, viewerRole } from "./tree.ts";

after(stopPostgres);

const iam = "/iam/v2beta1";

/** Returns an error without the identity that it names. */
function refusalOf({ status, body }: RestReply) {
  const { type = "", subject = "" } =
    body.details?.find((one: { violations?: object[] }) => one.violations)?.violations[0] ?? {};
  return { status, type, subject };
}

for (const database of databases) {
  describe(`the last owner of an organization, ${database}`, () => {
    let server: TestServer;
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
      server = await startTestServer({ database, settings: loginSettings(upstream) });
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    });

    const as = (token: string, method: string, path: string, body?: object) =>
      rest(server.url, token, method, path, body);

    /** Returns an identity of one organization that has created another one, of which it is the only owner. */
    async function founder() {
      const home = await addGroup(server, null, "home");
      const admin = await addCaller(server, home, ownerRole.uid);
      const member = await addCaller(server, home, ownerRole.uid);
      const created = await as(member.token, "POST", `${iam}/groups`, { name: "founded" });
      assert.equal(created.status, 200, JSON.stringify(created.body));
      return { home, admin, member, founded: created.body.uid as string };
    }

    it("R10: the last owner of an organization cannot be deleted in its home organization, by a caller who cannot see the other organization", async () => {
      const { admin, member, founded } = await founder();
      const refused = await as(admin.token, "DELETE", `${iam}/identities/${member.uid}`);
      assert.deepEqual(refusalOf(refused), { status: 400, type: "LAST_OWNER", subject: member.uid });
      assert.ok(!JSON.stringify(refused.body).includes(founded));
      // Version 1 is the same.
      assert.equal(refusalOf(await as(admin.token, "DELETE", `/iam/v1/identities/${member.uid}`)).type, "LAST_OWNER");
      assert.equal((await as(member.token, "GET", `${iam}/groups/${founded}`)).status, 200);
    });

    it("R10: the last owner of an organization cannot delete itself, and the error names the organization", async () => {
      const { member, founded } = await founder();
      const refused = await as(member.token, "DELETE", `${iam}/identities/${member.uid}`);
      assert.deepEqual(refusalOf(refused), { status: 400, type: "LAST_OWNER", subject: founded });
    });

    it("R10: the last owner of an organization can be deleted with its bindings once there is another owner", async () => {
      const { admin, member, founded } = await founder();
      const other = await addCaller(server, founded, ownerRole.uid);
      assert.equal((await as(admin.token, "DELETE", `${iam}/identities/${member.uid}`)).status, 200);
      const { body } = await as(other.token, "GET", `${iam}/roleBindings?group=${founded}`);
      assert.equal(body.totalCount, "1");
    });

    it("R10: an identity with another role elsewhere can be deleted", async () => {
      const { admin, home } = await founder();
      const elsewhere = await addGroup(server, null, "elsewhere");
      const viewer = await addCaller(server, elsewhere, viewerRole.uid, { home });
      assert.equal((await as(admin.token, "DELETE", `${iam}/identities/${viewer.uid}`)).status, 200);
    });

    it("R10: an owner bound below a root group, and one confined to a subgroup, do not count as owners", async () => {
      const { member, founded } = await founder();
      const group = await addGroup(server, founded, "team");
      await addCaller(server, group, ownerRole.uid, { home: founded });
      await addCaller(server, founded, ownerRole.uid, { home: group });
      const refused = await as(member.token, "DELETE", `${iam}/identities/${member.uid}`);
      assert.equal(refusalOf(refused).type, "LAST_OWNER");
    });

    it("R10: a person who owns two organizations deletes their account once both have another owner", async () => {
      const sub = `person-${database}`;
      await as(await upstream.idToken({ sub }), "POST", "/auth/v1/register", {});
      const uid = userUid(upstream.issuer, sub);
      const seed = await addGroup(server, null, "seed");
      await bind(server, seed, uid, viewerRole.uid);
      const token = await server.tokenOf(uid);
      const owned: string[] = [];
      for (const name of ["first", "second"]) {
        const group = await addGroup(server, null, name);
        await bind(server, group, uid, ownerRole.uid);
        owned.push(group);
      }
      for (const group of owned) {
        assert.equal(refusalOf(await as(token, "DELETE", `/auth/v1/delete/${uid}`)).type, "LAST_OWNER");
        await addCaller(server, group, ownerRole.uid);
      }
      assert.equal((await as(token, "DELETE", `/auth/v1/delete/${uid}`)).status, 200);
    });

    it("R10: one of two owners of different home organizations that are deleted concurrently remains", async () => {
      for (let round = 0; round < 4; round++) {
        const shared = await addGroup(server, null, "shared");
        const homes = await Promise.all(
          ["left", "right"].map(async (name) => {
            const home = await addGroup(server, null, name);
            const admin = await addCaller(server, home, ownerRole.uid);
            const { uid } = await addCaller(server, shared, ownerRole.uid, { home });
            return { admin, uid };
          }),
        );
        const replies = await Promise.all(
          homes.map(({ admin, uid }) => as(admin.token, "DELETE", `${iam}/identities/${uid}`)),
        );
        assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 400]);
      }
    });
  });
}
