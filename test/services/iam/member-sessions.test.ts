// The sessions of people by the identity providers of an organization: who may list and end which.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { insertRefreshFamily, listRefreshFamilies } from "../../../src/storage/sign-in/sign-ins.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { addProvider } from "../../security/provider-tree.ts";
import { addCaller, addGroup, addPerson, addRole, arrange, bind, ownerRole, viewerRole } from "../../security/tree.ts";

after(stopPostgres);

const places = [
  ...databases.map((database) => ({ name: database, database })),
  { name: "sqlite, in a worker that forwards writes", database: "sqlite", forwardsWrites: true } as const,
];

for (const { name, ...options } of places)
  describe(`the sessions of people by the identity providers of an organization (${name})`, () => {
    let server: TestServer;
    let [root, folder, ana, own, foreign] = ["", "", "", "", ""];
    let owner: { uid: string; token: string };
    let stranger: { uid: string; token: string };
    before(async () => {
      server = await startTestServer(options);
      root = await addGroup(server, null, "example.org");
      folder = await addGroup(server, root, "folder");
      owner = await addCaller(server, root, ownerRole.uid);
      const other = await addGroup(server, null, "other");
      stranger = await addCaller(server, other, ownerRole.uid);
      ana = await addPerson(server, "ana", "ana@example.org", root);
      await bind(server, root, ana, viewerRole.uid);
      await bind(server, other, ana, viewerRole.uid);
      [own, foreign] = [await addProvider(server, root), await addProvider(server, other)];
      for (const provider of ["", own, foreign]) await addSession(provider, provider || "installation");
      await addSession(own, "expired", -1);
    });
    after(() => server[Symbol.asyncDispose]());

    const addSession = (provider: string, id: string, lifetimeMs = 60_000) =>
      arrange(server, async (tx) => {
        const { time } = tx.context;
        const client = { client: "192.0.2.1", userAgent: "browser" };
        const signIn = { act: { iss: "", sub: "", aud: "" }, provider, audience: [], client };
        const row = { id, identityUid: ana, digest: id, signIn, createTime: time, expireTime: time + lifetimeMs };
        await insertRefreshFamily(tx, row, 10);
      });
    const list = (token = owner.token, organization = root, identity = ana) =>
      rest(
        server.url,
        token,
        "GET",
        `/gatehouse/iam/v1/memberships:sessions?organization=${organization}&identity=${identity}`,
      );
    const end = (sessionId: string, token = owner.token, organization = root) =>
      rest(server.url, token, "POST", "/gatehouse/iam/v1/memberships:endSession", {
        organization,
        identity: ana,
        sessionId,
      });
    const idsOfSessions = async () =>
      (await listRefreshFamilies(server.server.database.session, ana)).map(({ id }) => id).sort();

    it("an organization sees the live sessions by its own providers, and no others", async () => {
      const { status, body } = await list();
      assert.equal(status, 200);
      const [{ createTime, expireTime, ...session }] = body.sessions;
      assert.equal(body.sessions.length, 1);
      assert.ok(createTime < expireTime);
      const client = { clientAddress: "192.0.2.1", userAgent: "browser" };
      assert.deepEqual(session, { sessionId: own, identityProvider: own, browser: false, ...client });
      assert.ok(!JSON.stringify(body).includes(foreign));
    });

    it("callers without role_bindings.delete at the organization, and those of another one, are denied", async () => {
      const roleUid = await addRole(server, root, [Capability.CAP_IAM_ROLE_BINDINGS_LIST]);
      const lister = await addCaller(server, root, roleUid);
      const folderOwner = await addCaller(server, folder, ownerRole.uid);
      for (const { token } of [lister, folderOwner, stranger]) {
        assert.equal((await list(token)).status, 403);
        assert.equal((await end(own, token)).status, 403);
      }
      assert.equal((await list(owner.token, folder)).status, 400);
      assert.equal((await list(owner.token, root, owner.uid)).status, 400);
    });

    it("a session by another provider looks like one that does not exist, and goes on", async () => {
      const before = await idsOfSessions();
      for (const id of [foreign, "installation", "absent", "expired"]) assert.equal((await end(id)).status, 404, id);
      assert.deepEqual(await idsOfSessions(), before);
    });

    it("an owner ends a session, which the audit log of this organization shows, and no other", async () => {
      assert.equal((await end(own)).status, 200);
      assert.ok(!(await idsOfSessions()).includes(own));
      assert.deepEqual((await list()).body.sessions, []);
      const logOf = async (token: string, group: string) =>
        (await rest(server.url, token, "GET", `/gatehouse/changes/v1/changes?parent=${group}&kind=ended_sessions`)).body
          .changes;
      const [change] = await logOf(owner.token, root);
      assert.deepEqual([change.actorUid, change.resourceUid], [owner.uid, ana]);
      const other = foreign.slice(0, foreign.indexOf("/"));
      assert.deepEqual(await logOf(stranger.token, other), []);
    });
  });
