// The installation for its operators: facts, signing keys with rotation and retirement, sessions; on both databases.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { organizationsOfOperators } from "../../../src/access-log/operators.ts";
import { version } from "../../../src/base/version.ts";
import { insertMembership } from "../../../src/storage/iam/memberships.ts";
import { writeNode } from "../../../src/storage/installation/nodes.ts";
import type { RefreshFamilyRow } from "../../../src/storage/sign-in/sign-ins.ts";
import { insertRefreshFamily } from "../../../src/storage/sign-in/sign-ins.ts";
import { databases } from "../../harness/databases.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { startTwoNodes } from "../../harness/two-nodes.ts";
import { until } from "../../harness/until.ts";

const base = "/gatehouse/operate/v1";

for (const database of databases)
  describe(`the operate service on ${database}`, { timeout: 120_000 }, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ database });
    });
    after(() => server[Symbol.asyncDispose]());

    const call = async (method: string, path: string, body?: JsonObject, token = server.ownerToken) =>
      await rest(server.url, token, method, base + path, body);
    const ok = async (method: string, path: string, body?: JsonObject) => {
      const reply = await call(method, path, body);
      assert.equal(reply.status, 200, JSON.stringify(reply.body));
      // No response has a private key, the digest of a token or a claim of the login provider.
      assert.doesNotMatch(JSON.stringify(reply.body), /"d":|privateJwk|digest|secret-claim|postgres:\/\//i);
      return reply.body as unknown as Shown;
    };

    it("shows version, database and limits", async () => {
      const installation = await ok("GET", "/installation");
      assert.equal(installation.version, version);
      assert.equal(installation.baseUrl, server.config.baseUrl);
      assert.equal(installation.workerCount, 1);
      const { product, version: product_version, sizeBytes, problem } = installation.database;
      assert.equal(product, database === "sqlite" ? "SQLite" : "PostgreSQL");
      assert.match(String(product_version), /^\d+\.\d+/);
      assert.ok(Number(sizeBytes) > 10_000);
      assert.equal(problem ?? "", "");
      assert.ok(Object.keys(installation.limitsMet).length > 3);
    });

    it("rotates the signing keys: those before verify until they retire, at once on request", async () => {
      const listed = async () => (await ok("GET", "/signingKeys")).signingKeys;
      const signing = async (purpose: string) =>
        (await listed()).find(({ purposes }) => (purposes as readonly string[]).includes(purpose));
      const [before, others] = [await signing("PURPOSE_OWN"), await signing("PURPOSE_OTHERS")];
      assert.deepEqual(
        [before, others].map((key) => [key!.algorithm, key!.state]),
        [
          ["ES256", "STATE_SIGNING"],
          ["RS256", "STATE_SIGNING"],
        ],
      );
      const inUse = await call("POST", `/signingKeys/${before!.keyId}:retire`, {});
      assert.equal(inUse.status, 400);
      assert.match(JSON.stringify(inUse.body), /SIGNING_KEY_IN_USE.*rotate the signing key first/);
      const rotated = await ok("POST", "/signingKeys:rotate", {});
      const after = await signing("PURPOSE_OWN");
      const states = (await listed()).map(({ keyId, state, purposes }) => [keyId, state, purposes] as const);
      assert.deepEqual(
        new Set(states),
        new Set([
          [rotated.keyId, "STATE_SIGNING", ["PURPOSE_OTHERS"]],
          [after!.keyId, "STATE_SIGNING", ["PURPOSE_OWN"]],
          [others!.keyId, "STATE_VERIFYING", []],
          [before!.keyId, "STATE_VERIFYING", []],
        ]),
      );
      const head = (token: string) => JSON.parse(String(Buffer.from(token.split(".")[0]!, "base64url")));
      const old = server.ownerToken;
      const fresh = await server.tokenOf(server.ownerUid);
      assert.equal(head(fresh).kid, after!.keyId);
      assert.equal(head(old).kid, before!.keyId);
      const retired = await rest(server.url, fresh, "POST", `${base}/signingKeys/${before!.keyId}:retire`, {});
      assert.equal((retired.body as JsonObject).state, "STATE_RETIRED");
      assert.equal((await call("GET", "/signingKeys", undefined, old)).status, 401);
      const again = await rest(server.url, fresh, "POST", `${base}/signingKeys/${before!.keyId}:retire`, {});
      assert.equal(again.status, 200, "a key that is retired stays retired");
      const log = await rest(server.url, fresh, "GET", `/gatehouse/changes/v1/changes?parent=${server.groupUid}`);
      const entries = (log.body as { changes: JsonObject[] }).changes.filter(({ kind }) =>
        String(kind).startsWith("signing"),
      );
      assert.deepEqual(entries.map(({ kind, actorUid }) => [kind, actorUid]).sort(), [
        ["signing_key_retirements", server.ownerUid],
        ["signing_keys", server.ownerUid],
        ["signing_keys", server.ownerUid],
      ]);
    });

    it("lists the sessions of all people in pages, and ends one", async () => {
      const now = Date.now();
      const family = (id: string, order: number, expireTime = now + order * 1000) =>
        familyOf(server, id, now, expireTime);
      const context = { actor: "", method: "test", requestId: "", time: now };
      await server.server.database.write(context, async (tx) => {
        for (const [i, id] of ["one", "two", "three"].entries()) await insertRefreshFamily(tx, family(id, i + 100), 10);
        await insertRefreshFamily(tx, family("expired", 0, now - 1), 10);
      });
      const token = await server.tokenOf(server.ownerUid);
      const get = async (query: string) =>
        (await rest(server.url, token, "GET", `${base}/sessions${query}`)).body as never as Page;
      const first = await get("?pageSize=2");
      assert.deepEqual(
        first.sessions.map(({ sessionId }) => sessionId),
        ["three", "two"],
      );
      assert.equal(first.totalCount, "3");
      const second = await get(`?pageSize=2&pageToken=${first.nextPageToken}`);
      assert.deepEqual(
        second.sessions.map(({ sessionId }) => sessionId),
        ["one"],
      );
      assert.equal(second.nextPageToken ?? "", "");
      const skipped = await get("?pageSize=1&skip=1");
      assert.deepEqual([skipped.sessions.map(({ sessionId }) => sessionId), skipped.totalCount], [["two"], "3"]);
      const [one] = second.sessions;
      assert.deepEqual(
        [one!.email, one!.clientAddress, one!.userAgent, one!.browser ?? false],
        ["ana@example.org", "192.0.2.7", "curl", false],
      );
      assert.doesNotMatch(JSON.stringify([first, second]), /secret-claim|digest/);
      assert.equal((await get(`?identityUid=${server.ownerUid}`)).totalCount, "3");
      assert.equal((await get(`?identityUid=${server.groupUid}/0123456789abcdef`)).totalCount, "0");
      const end = (id: string) => rest(server.url, token, "POST", `${base}/sessions/${id}:end`, {});
      assert.equal((await end("two")).status, 200);
      assert.equal((await end("two")).status, 404);
      assert.equal((await get("")).totalCount, "2");
    });

    it("records in the audit log who ended a session, without the operator in organizations of others", async () => {
      const token = await server.tokenOf(server.ownerUid);
      const { body } = await rest(server.url, token, "POST", "/iam/v2beta1/groups/", { name: "elsewhere" });
      const elsewhere = (body as JsonObject).uid as string;
      const context = { actor: "", method: "test", requestId: "", time: Date.now() };
      await server.server.database.write(context, async (tx) => {
        assert.ok(!(await organizationsOfOperators(tx)).has(elsewhere));
        await insertMembership(tx, { identityUid: server.ownerUid, groupUid: elsewhere });
        const row = familyOf(server, "audited", Date.now(), Date.now() + 60_000);
        await insertRefreshFamily(tx, row, 10);
      });
      const ended = await rest(server.url, token, "POST", `${base}/sessions/audited:end`, {});
      assert.equal(ended.status, 200);
      const entryAt = async (parent: string) => {
        const query = new URLSearchParams({ parent, kind: "ended_sessions" });
        const log = await rest(server.url, token, "GET", `/gatehouse/changes/v1/changes?${query}`);
        const entries = (log.body as { changes: JsonObject[] }).changes;
        return entries.find(({ after }) => (after as JsonObject).sessionId === "audited");
      };
      const own = await entryAt(server.groupUid);
      assert.equal(own?.actorUid, server.ownerUid);
      assert.equal(own?.resourceUid, server.ownerUid);
      assert.match(String(own?.method), /OperateService\/EndSession$/);
      const members = ["browser", "createTime", "email", "sessionId"];
      assert.deepEqual(Object.keys(own!.after as object).sort(), [...members, "client", "userAgent"].sort());
      assert.equal((own!.after as JsonObject).client, "127.0.0.1");
      const other = await entryAt(elsewhere);
      assert.deepEqual(Object.keys(other!.after as object).sort(), members);
      assert.match(String(other?.method), /OperateService\/EndSession$/);
      assert.equal(other?.actorUid ?? "", "");
      assert.deepEqual(other?.actorClaims ?? {}, {});
      assert.doesNotMatch(JSON.stringify([own, other]), /secret-claim|digest of/);
    });

    it("lists the servers: this one, those that were not seen for a minute, and none twice in pages", async () => {
      // The test before has retired the key of the first token.
      const token = await server.tokenOf(server.ownerUid);
      const list = async (query = "") =>
        (await rest(server.url, token, "GET", `${base}/nodes${query}`)).body as never as NodePage;
      // On PostgreSQL the server writes its row after it has begun to serve.
      const first = await until(
        "the servers",
        async () => {
          const page = await list();
          return page.nodes.length > 0 ? page : undefined;
        },
        120_000,
      );
      const { nodeId, version: shown, state, current, workerCount } = first.nodes[0]!;
      assert.match(String(nodeId), /^[0-9a-f]{16}$/);
      assert.deepEqual([shown, state, current, workerCount], [version, "STATE_RUNNING", true, 1]);
      assert.equal(first.totalCount, "1");
      if (database === "sqlite") return;
      const now = Date.now();
      const context = { actor: "", method: "test", requestId: "", time: now };
      const crashed = { hostName: "pod-7", version: "0.1.0", workerCount: 4, startTime: now - 90_000 };
      await server.server.database.write(context, async (tx) => {
        await writeNode(tx, { ...crashed, id: "silent", lastSeenTime: now - 61_000 });
        await writeNode(tx, { ...crashed, id: "upgraded", version: "0.2.0", lastSeenTime: now });
        // A second write of the same server changes only when it was seen.
        await writeNode(tx, { ...crashed, id: "upgraded", startTime: now, lastSeenTime: now });
      });
      const all = await list();
      assert.deepEqual(
        all.nodes.map((one) => [one.hostName === "pod-7" ? one.nodeId : "this", one.state, one.current ?? false]),
        [
          ["this", "STATE_RUNNING", true],
          ["silent", "STATE_NOT_SEEN", false],
          ["upgraded", "STATE_RUNNING", false],
        ],
      );
      assert.equal(all.nodes[2]!.version, "0.2.0");
      const page = await list("?pageSize=2");
      assert.deepEqual([page.nodes.length, page.totalCount], [2, "3"]);
      const second = await list(`?pageSize=2&pageToken=${page.nextPageToken}`);
      assert.deepEqual([second.nodes.map((one) => one.nodeId), second.nextPageToken ?? ""], [["upgraded"], ""]);
    });

    it("is closed to narrowed tokens, which say why", async () => {
      const narrowed = await server.tokenOf(server.ownerUid, { scopes: [server.groupUid] });
      for (const [method, path] of [
        ["GET", "/installation"],
        ["GET", "/signingKeys"],
        ["POST", "/signingKeys:rotate"],
        ["POST", `/signingKeys/${"A".repeat(43)}:retire`],
        ["GET", "/nodes"],
        ["GET", "/sessions"],
        ["POST", "/sessions/one:end"],
      ] as const) {
        const reply = await call(method, path, method === "POST" ? {} : undefined, narrowed);
        assert.equal(reply.status, 403, path);
        assert.match(JSON.stringify(reply.body), /narrowed token/);
      }
    });
  });

describe("servers on one PostgreSQL database", { timeout: 120_000 }, () => {
  it("know each other, and a server that shuts down is gone", async () => {
    await using nodes = await startTwoNodes();
    const { one, other } = nodes;
    const list = async () => {
      const { body } = await rest(one.url, one.ownerToken, "GET", `${base}/nodes`);
      return (body as never as NodePage).nodes;
    };
    const both = await until(
      "the servers",
      async () => {
        const found = await list();
        return found.length === 2 ? found : undefined;
      },
      120_000,
    );
    assert.deepEqual(both.map(({ current }) => current ?? false).sort(), [false, true]);
    assert.deepEqual(new Set(both.map(({ state }) => state)), new Set(["STATE_RUNNING"]));
    await other[Symbol.asyncDispose]();
    const left = await list();
    assert.deepEqual([left.length, left[0]?.current], [1, true]);
  });
});

function familyOf(server: TestServer, id: string, createTime: number, expireTime: number): RefreshFamilyRow {
  return {
    id,
    identityUid: server.ownerUid,
    digest: `digest of ${id}`,
    createTime,
    expireTime,
    signIn: {
      act: { iss: "https://issuer.example.org", sub: "secret-claim", aud: "a" },
      email: "ana@example.org",
      provider: "",
      audience: [],
      client: { client: "192.0.2.7", userAgent: "curl" },
    },
  };
}

interface NodePage {
  readonly nodes: readonly JsonObject[];
  readonly nextPageToken?: string;
  readonly totalCount: string;
}

interface Shown {
  readonly [name: string]: unknown;
  readonly database: JsonObject;
  readonly limitsMet: object;
  readonly signingKeys: readonly JsonObject[];
}

interface Page {
  readonly sessions: readonly JsonObject[];
  readonly nextPageToken?: string;
  readonly totalCount: string;
}
