// Tokens that were presented for an identity, over the wire: what is stored of them, who sees it, and what a rule would say of them.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import BetterSqlite from "better-sqlite3";
import pg from "pg";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { basic, getToken } from "../../registry/sign-in.ts";
import { addCaller, viewerRole } from "../../security/tree.ts";
import { keyPair, signOutside, startIssuer } from "../outside.ts";

after(stopPostgres);

// biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
type Json = any;

const key = keyPair("ES256");
const main = "repo:acme/app:ref:refs/heads/main";

/** Runs a statement behind the back of the server. */
async function tamper({ config: { databaseUrl } }: TestServer, statement: string): Promise<Json[]> {
  if (!databaseUrl.startsWith("postgres")) {
    using connection = { raw: new BetterSqlite(databaseUrl), [Symbol.dispose]: () => connection.raw.close() };
    const prepared = connection.raw.prepare(statement);
    return prepared.reader ? prepared.all() : [prepared.run()];
  }
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const { rows } = await client.query(statement).finally(() => client.end());
  return rows;
}

for (const database of databases) {
  describe(`seen tokens on ${database}`, () => {
    let server: TestServer;
    let issuer: Awaited<ReturnType<typeof startIssuer>>;
    let now = Date.now();
    before(async () => {
      issuer = await startIssuer(key);
      server = await startTestServer({
        database,
        clock: () => now,
        settings: { registryService: "registry.example" },
      });
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await issuer[Symbol.asyncDispose]();
    });

    const call = (token: string, method: string, path: string, body?: object) =>
      rest(server.url, token, method, path, body);

    async function addIdentity(rule: object = {}): Promise<string> {
      const claimMatch = { issuer: issuer.url, subjectPattern: "repo:acme/app:.*", ...rule };
      const path = `/iam/v2beta1/identities/${server.groupUid}`;
      const { status, body } = await call(server.ownerToken, "POST", path, { name: "ci", claimMatch });
      assert.equal(status, 200, JSON.stringify(body));
      const binding = { identityUid: body.uid, roleUid: viewerRole.uid };
      await call(server.ownerToken, "POST", `/iam/v2beta1/roleBindings/${server.groupUid}`, binding);
      return body.uid;
    }

    function signToken(claims: object = {}): Promise<string> {
      const exp = Math.floor(now / 1000) + 600;
      return signOutside(key, { iss: issuer.url, sub: main, aud: server.config.baseUrl, exp, ...claims });
    }

    async function exchange(identity: string, claims: object = {}): Promise<number> {
      const query = new URLSearchParams({ aud: server.config.baseUrl, identity });
      return (await call(await signToken(claims), "GET", `/sts/exchange?${query}`)).status;
    }

    const list = async (identity: string, query: Record<string, string> = {}, token = server.ownerToken) => {
      const parameters = new URLSearchParams(query);
      return await call(token, "GET", `/gatehouse/iam/v1/trust/${identity}:listSeenTokens?${parameters}`);
    };

    /** Returns the seen tokens once there are so many exchanges: they are written soon, and not at once. */
    async function seenTokens(identity: string, exchanges: number): Promise<Json[]> {
      for (;;) {
        const { body } = await list(identity);
        const sum = body.seenTokens.reduce((total: number, { count }: Json) => total + Number(count), 0);
        if (sum >= exchanges) return body.seenTokens;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }

    const replay = async (identity: string, rule: object, days?: number, token = server.ownerToken) => {
      const claimMatch = { issuer: issuer.url, subjectPattern: ".*", ...rule };
      return await call(token, "POST", `/gatehouse/iam/v1/trust/${identity}:replay`, { claimMatch, days });
    };

    it("an exchange with a valid signature is stored with its outcome, and one without is not", async () => {
      const identity = await addIdentity({ claims: { team: "a" } });
      assert.equal(await exchange(identity, { team: "a" }), 200);
      assert.equal(await exchange(identity, { team: "b" }), 403);
      assert.equal(await exchange(identity, { sub: "other", team: "a" }), 403);
      const forged = (await signToken({ team: "forged" })).replace(/.{8}$/, "AAAAAAAA");
      const query = new URLSearchParams({ aud: server.config.baseUrl, identity });
      assert.equal((await call(forged, "GET", `/sts/exchange?${query}`)).status, 403);
      assert.equal(await exchange(identity, { team: "late", exp: 1 }), 403);
      const seen = await seenTokens(identity, 3);
      assert.deepEqual(
        seen.map(({ claims, accepted, failedCheck = "" }) => [claims.sub, claims.team, accepted, failedCheck]).sort(),
        [
          ["other", "a", false, "sub"],
          [main, "a", true, ""],
          [main, "b", false, "team"],
        ],
      );
      assert.deepEqual(Object.keys(seen[0].claims).sort(), ["aud", "iss", "sub", "team"]);
    });

    it("exchanges with other times and ids are one seen token, which the endpoints count together", async () => {
      const identity = await addIdentity();
      for (let i = 0; i < 3; i++) assert.equal(await exchange(identity, { jti: `${i}`, iat: i }), 200);
      const form = new URLSearchParams({
        grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
        assertion: await signToken(),
        client_id: identity,
      });
      assert.equal((await fetch(`${server.url}/sts/token`, { method: "POST", body: form })).status, 200);
      now += 61_000;
      const seen = await seenTokens(identity, 4);
      assert.deepEqual(
        seen.map(({ count, accepted, registry }) => [Number(count), accepted, registry]),
        [[4, true, false]],
      );
    });

    it("a sign-in at the registry is a seen token of its own, whose audience a replay compares with that of the registry", async () => {
      const identity = await addIdentity();
      const password = await signToken({ aud: "registry.example" });
      const signedIn = await getToken(server.url, basic(identity, password), [], "registry.example");
      assert.equal(signedIn.status, 200);
      assert.equal(await exchange(identity, { aud: "registry.example" }), 403);
      const seen = await seenTokens(identity, 2);
      assert.deepEqual(seen.map(({ registry, failedCheck = "" }) => [registry, failedCheck]).sort(), [
        [false, "aud"],
        [true, ""],
      ]);
      const { body } = await replay(identity, {});
      assert.deepEqual(
        body.tokens.map(({ verdict, token }: Json) => [verdict, token.registry]),
        [
          ["VERDICT_AGREED_ALLOWED", true],
          ["VERDICT_AGREED_DENIED", false],
        ],
      );
    });

    it("neither who started a job, nor a commit, an address or an unknown claim is stored", async () => {
      const identity = await addIdentity();
      const marker = "MARKER";
      const names = ["actor", "actor_id", "email", "name", "user_login", "sha", "jti", "run_id", "unknown", "groups"];
      const marked = Object.fromEntries(names.map((name) => [name, marker]));
      assert.equal(await exchange(identity, { ...marked, repository: { sha: marker }, project_path: "acme/app" }), 200);
      assert.equal(await exchange(identity, { ...marked, sub: "other" }), 403);
      await seenTokens(identity, 2);
      const rows = await tamper(server, "SELECT * FROM seen_tokens");
      assert.ok(rows.length >= 2);
      assert.doesNotMatch(JSON.stringify(rows), /MARKER/);
      const all = await tamper(server, "SELECT * FROM identities");
      assert.doesNotMatch(JSON.stringify(all), /MARKER/);
    });

    it("a replay says whom another rule would let in or deny, and what it cannot know, with totals", async () => {
      const identity = await addIdentity({ claims: { team: "a" } });
      await exchange(identity, { team: "a" });
      await exchange(identity, { team: "b" });
      await exchange(identity, { team: "a", sub: "repo:acme/app:ref:refs/heads/dev" });
      await exchange(identity, { team: "c", sub: "other" });
      await seenTokens(identity, 4);
      const { status, body } = await replay(identity, { subject: main, subjectPattern: undefined });
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(
        body.tokens.map(({ verdict, failedCheck = "", token }: Json) => [verdict, failedCheck, token.claims.team]),
        [
          ["VERDICT_NEWLY_ALLOWED", "", "b"],
          ["VERDICT_NEWLY_DENIED", "sub", "a"],
          ["VERDICT_AGREED_ALLOWED", "", "a"],
          ["VERDICT_AGREED_DENIED", "sub", "c"],
        ],
      );
      const expected = ["NEWLY_ALLOWED", "NEWLY_DENIED", "AGREED_ALLOWED", "AGREED_DENIED"];
      assert.deepEqual(
        body.totals,
        expected.map((verdict) => ({ verdict: `VERDICT_${verdict}`, tokens: "1", exchanges: "1" })),
      );
      const unknown = await replay(identity, { claims: { unknown: "x" } });
      const verdicts = unknown.body.tokens.map(({ verdict, failedCheck }: Json) => `${verdict} ${failedCheck}`);
      assert.deepEqual(verdicts, Array(4).fill("VERDICT_NOT_DECIDABLE unknown"));
    });

    it("a name with another id than the pinned one is a denied seen token, and no rule that is replayed lets it in", async () => {
      const identity = await addIdentity();
      const pins = { pinnedNames: [{ kind: "project", name: "acme/app", id: "74" }] };
      const path = `/gatehouse/iam/v1/trust/${identity}?update_mask=pinned_names`;
      const { status, body: pinned } = await call(server.ownerToken, "PATCH", path, pins);
      assert.equal(status, 200, JSON.stringify(pinned));
      const names = { project_path: "acme/app", namespace_path: "acme", namespace_id: "12" };
      assert.equal(await exchange(identity, { ...names, project_id: "74" }), 200);
      assert.equal(await exchange(identity, { ...names, project_id: "75" }), 403);
      const seen = await seenTokens(identity, 2);
      assert.deepEqual(seen.map(({ claims, failedCheck = "" }) => [claims.project_id, failedCheck]).sort(), [
        ["74", ""],
        ["75", "name:project"],
      ]);
      const { body } = await replay(identity, {});
      assert.deepEqual(
        body.tokens.map(({ verdict, failedCheck = "" }: Json) => [verdict, failedCheck]),
        [
          ["VERDICT_AGREED_ALLOWED", ""],
          ["VERDICT_AGREED_DENIED", "name:project"],
        ],
      );
    });

    it("a replay of the last days leaves out older tokens", async () => {
      const identity = await addIdentity();
      await exchange(identity);
      await seenTokens(identity, 1);
      const old = 3 * 86_400_000;
      await tamper(server, `UPDATE seen_tokens SET last_time = last_time - ${old} WHERE identity_uid = '${identity}'`);
      await exchange(identity, { sub: "repo:acme/app:later" });
      await seenTokens(identity, 2);
      const countOf = async (days: number) => (await replay(identity, {}, days)).body.tokens.length;
      assert.deepEqual([await countOf(0), await countOf(2), await countOf(4)], [2, 1, 2]);
      for (const days of [-1, 401]) assert.equal((await replay(identity, {}, days)).status, 400);
      assert.equal((await replay(identity, { subjectPattern: "(" })).status, 400);
    });

    it("a list has pages, those that were presented last first", async () => {
      const identity = await addIdentity();
      for (let i = 0; i < 5; i++) {
        now += 1000;
        await exchange(identity, { sub: `repo:acme/app:${i}` });
      }
      await seenTokens(identity, 5);
      const found: string[] = [];
      let pageToken = "";
      do {
        const { body } = await list(identity, { page_size: "2", page_token: pageToken });
        found.push(...body.seenTokens.map(({ claims }: Json) => claims.sub.slice(-1)));
        assert.equal(body.totalCount, "5");
        pageToken = body.nextPageToken ?? "";
      } while (pageToken !== "");
      assert.deepEqual(found, ["4", "3", "2", "1", "0"]);
      const { body } = await list(identity, { skip: "4" });
      assert.equal(body.seenTokens.length, 1);
    });

    it("seen tokens can be deleted, which the audit log says, and a viewer may only read them", async () => {
      const identity = await addIdentity();
      await exchange(identity);
      await seenTokens(identity, 1);
      const viewer = await addCaller(server, server.groupUid, viewerRole.uid);
      const clear = (token: string) => call(token, "POST", `/gatehouse/iam/v1/trust/${identity}:clearSeenTokens`, {});
      assert.equal((await list(identity, {}, viewer.token)).status, 200);
      assert.equal((await replay(identity, {}, 0, viewer.token)).status, 200);
      assert.equal((await clear(viewer.token)).status, 403);
      assert.deepEqual((await clear(server.ownerToken)).body, { deletedCount: "1" });
      assert.deepEqual((await list(identity)).body.seenTokens, []);
      const query = new URLSearchParams({ parent: server.groupUid, kind: "seen_token_clearings" });
      const { body } = await call(server.ownerToken, "GET", `/gatehouse/changes/v1/changes?${query}`);
      const [entry] = body.changes;
      assert.deepEqual([entry.resourceUid, entry.actorUid, entry.after.tokens], [identity, server.ownerUid, 1]);
    });

    it("seen tokens of a foreign identity look like those of an identity that does not exist", async () => {
      const identity = await addIdentity();
      await exchange(identity);
      await seenTokens(identity, 1);
      const { body: other } = await call(server.ownerToken, "POST", "/iam/v2beta1/groups/", { name: "foreign" });
      const stranger = await addCaller(server, other.uid, viewerRole.uid);
      const absent = `${server.groupUid}/0123456789abcdef`;
      const ask = async (uid: string) => {
        const answers = [
          await list(uid, {}, stranger.token),
          await replay(uid, {}, 0, stranger.token),
          await call(stranger.token, "POST", `/gatehouse/iam/v1/trust/${uid}:clearSeenTokens`, {}),
        ];
        return answers.map(({ status, body }) => [status, JSON.stringify(body).replaceAll(uid, "UID")]);
      };
      assert.deepEqual(await ask(identity), await ask(absent));
      assert.equal((await list(absent)).status, 404);
    });

    it("an exchange has its verdict while seen tokens cannot be written, and the audit log has its entry", async () => {
      const identity = await addIdentity();
      await tamper(server, "ALTER TABLE seen_tokens RENAME TO hidden_tokens");
      try {
        assert.equal(await exchange(identity), 200);
        assert.equal(await exchange(identity, { sub: "other" }), 403);
        const query = new URLSearchParams({ parent: server.groupUid, kind: "token_exchanges" });
        for (let found = 0; found < 2; ) {
          const { body } = await call(server.ownerToken, "GET", `/gatehouse/changes/v1/changes?${query}`);
          found = body.changes.filter(({ resourceUid }: Json) => resourceUid === identity).length;
        }
      } finally {
        await tamper(server, "ALTER TABLE hidden_tokens RENAME TO seen_tokens");
      }
      assert.equal((await seenTokens(identity, 2)).length, 2);
    });
  });

  it(`no token is stored with a retention of 0 days on ${database}`, async () => {
    await using issuer = await startIssuer(key);
    const server = await startTestServer({ database, settings: { seenTokensKept: "0" } });
    let rows: Json[];
    try {
      const claimMatch = { issuer: issuer.url, subject: main };
      const path = `/iam/v2beta1/identities/${server.groupUid}`;
      const { body: identity } = await rest(server.url, server.ownerToken, "POST", path, { name: "ci", claimMatch });
      const exp = Math.floor(Date.now() / 1000) + 600;
      const token = await signOutside(key, { iss: issuer.url, sub: main, aud: server.config.baseUrl, exp });
      const query = new URLSearchParams({ aud: server.config.baseUrl, identity: identity.uid });
      assert.equal((await rest(server.url, token, "GET", `/sts/exchange?${query}`)).status, 200);
      await new Promise((resolve) => setTimeout(resolve, 600));
      rows = await tamper(server, "SELECT * FROM seen_tokens");
    } finally {
      await server[Symbol.asyncDispose]();
    }
    assert.deepEqual(rows, []);
  });
}
