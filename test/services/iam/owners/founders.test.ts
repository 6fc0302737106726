// The creator of an organization owns it by nobody's authority: static keys that another identity vouches for do not lock it out.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ownerRole } from "../../../../src/authz/built-in-roles.ts";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { rest } from "../../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";
import { getToken, basic as signedIn } from "../../../registry/sign-in.ts";
import { addCaller, addGroup, viewerRole } from "../../../security/tree.ts";
import { keyPair, keySetText, type OutsideKeyPair, signOutside } from "../../../sts/outside.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`an identity with static keys that creates an organization, ${database}`, () => {
    let server: TestServer;
    let home: string;
    let maker: { uid: string; token: string; binding: string };

    before(async () => {
      server = await startTestServer({ database });
      home = await addGroup(server, null, `home-${database}`);
      await addCaller(server, home, ownerRole.uid);
      maker = await addCaller(server, home, ownerRole.uid);
    });
    after(() => server[Symbol.asyncDispose]());

    const send = (token: string, method: string, path: string, body?: object) =>
      rest(server.url, token, method, `/iam/v2beta1/${path}`, body);
    async function call(token: string, method: string, path: string, body?: object) {
      const reply = await send(token, method, path, body);
      assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
      return reply.body;
    }
    const keysOf = (key: OutsideKeyPair) => ({
      staticKeys: { issuer: "https://keys.example.org", subject: "automation", issuerKeys: keySetText(key) },
    });
    /** Creates an identity with static keys that owns its group, and returns its uid and what exchanges a token of its keys. */
    async function createAutomation(key = keyPair("ES256")) {
      const { uid } = await call(maker.token, "POST", `identities/${home}`, { name: "automation", ...keysOf(key) });
      await call(maker.token, "POST", `roleBindings/${home}`, { identityUid: uid, roleUid: ownerRole.uid });
      const sign = () => {
        const now = Math.floor(Date.now() / 1000);
        const claims = { iss: "https://keys.example.org", sub: "automation", aud: server.config.baseUrl };
        return signOutside(key, { ...claims, iat: now, exp: now + 600 });
      };
      const exchange = async () =>
        await rest(server.url, await sign(), "POST", `/sts/exchange?aud=${server.config.baseUrl}&identity=${uid}`);
      const token = async (): Promise<string> => {
        const { status, body } = await exchange();
        assert.equal(status, 200, JSON.stringify(body));
        return body.token;
      };
      return { uid, sign, exchange, token };
    }

    it("exchanges again, works in the organization and deletes it", async () => {
      const automation = await createAutomation();
      const { uid: group } = await call(await automation.token(), "POST", "groups", {
        name: `made-${database}.example`,
      });
      // Each step has a new token, as a job that takes longer than an hour has.
      const { uid: folder } = await call(await automation.token(), "POST", `groups/${group}`, { name: "folder" });
      const { uid: role } = await call(await automation.token(), "POST", `roles/${group}`, {
        name: "lister",
        capabilities: ["CAP_IAM_GROUPS_LIST"],
      });
      const binding = { identityUid: automation.uid, roleUid: role };
      const bound = await call(await automation.token(), "POST", `roleBindings/${folder}`, binding);
      await call(await automation.token(), "DELETE", `roleBindings/${bound.uid}`);
      await call(await automation.token(), "DELETE", `roles/${role}`);
      await call(await automation.token(), "DELETE", `groups/${folder}`);
      await call(await automation.token(), "DELETE", `groups/${group}`);
      await call(await automation.token(), "GET", `groups/${home}`);
    });

    it("the creator of an organization keeps its access there, and nowhere else, when the maker of its static keys leaves", async () => {
      const leaver = await addCaller(server, home, ownerRole.uid);
      const [own, former] = [maker, leaver];
      maker = former;
      const automation = await createAutomation();
      maker = own;
      const { uid: group } = await call(await automation.token(), "POST", "groups", {
        name: `kept-${database}.example`,
      });
      const { uid: other } = await call(await automation.token(), "POST", `groups/${group}`, { name: "folder" });
      await call(maker.token, "DELETE", `roleBindings/${leaver.binding}`);
      const token = await automation.token();
      assert.equal((await send(token, "GET", `groups/${other}`)).status, 200);
      assert.equal((await send(token, "GET", `groups/${home}`)).status, 403);
      assert.equal((await send(token, "POST", "groups", { name: "another" })).status, 403);
      assert.equal((await getToken(server.url, signedIn(automation.uid, await automation.sign()), [])).status, 200);
      // Resources that the founder makes there are in force, too.
      const invite = { roleUid: viewerRole.uid, ttl: "3600s", email: "friend@example.org" };
      const { uid } = await call(token, "POST", `groupInvites/${group}`, invite);
      const listed = await rest(server.url, token, "GET", `/iam/v1/delegations?parent=${group}&inactive=true`);
      assert.ok(!JSON.stringify(listed.body).includes(uid), JSON.stringify(listed.body));
    });

    it("the creator of an organization depends on the maker of its static keys again once another identity has replaced them", async () => {
      const automation = await createAutomation();
      const { uid: group } = await call(await automation.token(), "POST", "groups", {
        name: `taken-${database}.example`,
      });
      const buddy = await addCaller(server, group, ownerRole.uid, { home });
      await call(maker.token, "POST", `roleBindings/${home}`, { identityUid: buddy.uid, roleUid: ownerRole.uid });
      // The owner of both organizations changes the keys, and loses the organization.
      await call(buddy.token, "PATCH", `identities/${automation.uid}`, keysOf(keyPair("ES256", "second")));
      await addCaller(server, group, ownerRole.uid);
      await call(buddy.token, "DELETE", `roleBindings/${buddy.binding}`);
      assert.equal((await automation.exchange()).status, 403);
    });

    it("an identity with static keys is not counted as an owner of an organization that another identity created", async () => {
      const automation = await createAutomation();
      const group = await addGroup(server, null, `counted-${database}`);
      const human = await addCaller(server, group, ownerRole.uid, { home });
      await call(maker.token, "POST", `roleBindings/${home}`, { identityUid: human.uid, roleUid: ownerRole.uid });
      await call(human.token, "POST", `roleBindings/${group}`, { identityUid: automation.uid, roleUid: ownerRole.uid });
      const { status, body } = await send(human.token, "DELETE", `roleBindings/${human.binding}`);
      assert.equal(status, 400);
      assert.match(JSON.stringify(body), /LAST_OWNER/);
    });

    it("the creator of an organization cannot become a service principal or end its static keys while it is the only owner", async () => {
      const automation = await createAutomation();
      const { uid: group } = await call(await automation.token(), "POST", "groups", {
        name: `only-${database}.example`,
      });
      const ended = {
        ...keysOf(keyPair("ES256")).staticKeys,
        expirationTime: new Date(server.clock() + 60_000).toISOString(),
      };
      for (const change of [{ servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" }, { staticKeys: ended }]) {
        const { status, body } = await send(await automation.token(), "PATCH", `identities/${automation.uid}`, change);
        assert.equal(status, 400, JSON.stringify(body));
        assert.match(JSON.stringify(body), /LAST_OWNER/);
      }
      await call(await automation.token(), "DELETE", `groups/${group}`);
    });
  });
}
