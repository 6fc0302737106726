// Calls with an idempotency key, over the wire: a repetition has the response of the first call, and changes nothing.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { ownerRole } from "../../src/authz/built-in-roles.ts";
import { findOutcome } from "../../src/storage/installation/call-outcomes.ts";
import { type RawReply, sendRaw } from "../api/raw-rest.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addCaller, addGroup, arrange } from "../security/tree.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`calls with an idempotency key, ${database}`, () => {
    let server: TestServer;
    let now = Date.now();
    let home: string;

    before(async () => {
      server = await startTestServer({ database, clock: () => now });
      home = await addGroup(server, null, `home-${database}`);
      await addCaller(server, home, ownerRole.uid);
    });
    after(() => server[Symbol.asyncDispose]());

    const owner = () => addCaller(server, home, ownerRole.uid);
    const send = (token: string, key: string | undefined, method: string, target: string, body?: object) =>
      sendRaw(server.url, method, target, {
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          ...(key !== undefined && { "idempotency-key": key }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
    const create = (token: string, key: string | undefined, name: string) =>
      send(token, key, "POST", `/iam/v2beta1/groups/${home}`, { name });
    const reasonOf = ({ json }: RawReply) =>
      json.details.find((detail: { "@type": string }) => detail["@type"].endsWith("ErrorInfo")).reason;
    const groupsNamed = async (token: string, name: string) =>
      (await rest(server.url, token, "GET", `/iam/v2beta1/groups?name=${name}`)).body.groups ?? [];

    it("a repetition has the same bytes as the first response, says that it is one, and makes no second resource or entry", async () => {
      const { token } = await owner();
      const first = await create(token, "key-1", "once");
      const changes = () =>
        rest(server.url, token, "GET", `/gatehouse/changes/v1/changes?parent=${home}&resource_uid=${first.json.uid}`);
      assert.equal(first.status, 200, first.text);
      assert.equal(first.headers["idempotent-replayed"], undefined);
      for (const key of ["key-1", '"key-1"']) {
        const second = await create(token, key, "once");
        assert.deepEqual([second.status, second.text], [200, first.text]);
        assert.equal(second.headers["idempotent-replayed"], "true");
      }
      assert.equal((await groupsNamed(token, "once")).length, 1);
      assert.equal((await changes()).body.changes.length, 1);
      const metrics = await (await fetch(`${server.url}/metrics`)).text();
      assert.match(metrics, /^gatehouse_idempotent_replays_total [1-9]/m);
    });

    it("two equal creates without a key, or with two keys, make two resources", async () => {
      const { token } = await owner();
      for (const key of [undefined, undefined, "a", "b"]) assert.equal((await create(token, key, "twice")).status, 200);
      assert.equal((await groupsNamed(token, "twice")).length, 4);
    });

    it("rejects a key that was used for another request, with 422 over REST and FAILED_PRECONDITION", async () => {
      const { token } = await owner();
      await create(token, "key-2", "one");
      const other = await create(token, "key-2", "another");
      assert.deepEqual([other.status, other.json.code, reasonOf(other)], [422, 9, "IDEMPOTENCY_KEY_REUSED"]);
      const method = await send(token, "key-2", "POST", `/iam/v2beta1/roles/${home}`, { name: "one" });
      assert.ok(method.status === 422 || method.status === 400, method.text);
      assert.equal((await groupsNamed(token, "another")).length, 0);
    });

    it("a key belongs to its caller: that of another caller is another key, and another token of the same caller continues it", async () => {
      const [one, other] = [await owner(), await owner()];
      const first = await create(one.token, "shared", "mine");
      assert.notEqual((await create(other.token, "shared", "mine")).json.uid, first.json.uid);
      assert.equal((await create(await server.tokenOf(one.uid), "shared", "mine")).text, first.text);
    });

    for (const [rule, key] of [
      ["empty", ""],
      ["of 256 characters", "k".repeat(256)],
      ["with a space", "a b"],
      ["with a quote", 'a"b'],
      ["in quotes with a control character", '"a\tb"'],
    ] as const)
      it(`rejects a key that is ${rule}`, async () => {
        const { token } = await owner();
        const reply = await create(token, key, "refused");
        assert.deepEqual([reply.status, reasonOf(reply)], [400, "IDEMPOTENCY_KEY_INVALID"], reply.text);
        assert.equal((await groupsNamed(token, "refused")).length, 0);
      });

    it("a method that converges by itself rejects a key, and a method that reads does not look at it", async () => {
      const { token } = await owner();
      const applied = await send(token, "k", "POST", "/gatehouse/apply/v1/resources:apply", { groupUid: home });
      assert.equal(reasonOf(applied), "IDEMPOTENCY_KEY_UNSUPPORTED", applied.text);
      assert.equal((await send(token, "not a key", "GET", `/iam/v2beta1/groups/${home}`)).status, 200);
    });

    it("after an error the call with the same key runs, even if it asks for something else", async () => {
      const { token } = await owner();
      assert.equal((await create(token, "key-3", "NOT A NAME!")).status, 400);
      assert.equal((await create(token, "key-3", "now-right")).status, 200);
    });

    it("of 20 calls at once with one key one changes something; the others have its response, or are told to repeat", async () => {
      const { token } = await owner();
      for (let round = 0; round < 5; round++) {
        const key = randomUUID();
        const replies = await Promise.all(Array.from({ length: 20 }, () => create(token, key, `parallel-${round}`)));
        const done = replies.filter(({ status }) => status === 200);
        assert.ok(done.length >= 1);
        assert.equal(new Set(done.map(({ json }) => json.uid)).size, 1);
        for (const reply of replies.filter(({ status }) => status !== 200)) {
          assert.deepEqual([reply.status, reasonOf(reply)], [409, "IDEMPOTENCY_KEY_IN_USE"]);
          assert.equal(reply.headers["retry-after"], "1");
        }
        assert.equal((await groupsNamed(token, `parallel-${round}`)).length, 1);
      }
    });

    it("the code of an invite is returned again, and is not in the database", async () => {
      const { token } = await owner();
      const invite = { ttl: "3600s", roleUid: ownerRole.uid };
      const ask = () => send(token, "key-4", "POST", `/iam/v2beta1/groupInvites/${home}`, invite);
      const first = await ask();
      assert.equal(first.status, 200, first.text);
      assert.equal((await ask()).json.code, first.json.code);
      if (database !== "sqlite") return;
      const { databaseUrl } = server.config as unknown as { databaseUrl: string };
      const file = databaseUrl?.replace(/^sqlite:/, "") ?? path.join(server.config.dataDir, "gatehouse.db");
      for (const name of [file, `${file}-wal`])
        assert.equal(readFileSync(name).includes(first.json.code), false, `the code is in ${name}`);
    });

    it("a caller who lost the capability does not get the response again", async () => {
      const { token, binding } = await owner();
      assert.equal((await create(token, "key-5", "before")).status, 200);
      const other = await owner();
      assert.equal((await send(other.token, undefined, "DELETE", `/iam/v2beta1/roleBindings/${binding}`)).status, 200);
      const again = await create(token, "key-5", "before");
      assert.equal(again.status, 403, again.text);
    });

    it("a replay has the stored response also after the resource was changed or deleted", async () => {
      const { token } = await owner();
      const first = await create(token, "key-6", "changing");
      await send(token, undefined, "DELETE", `/iam/v2beta1/groups/${first.json.uid}`);
      assert.equal((await create(token, "key-6", "changing")).text, first.text);
    });

    it("what a failed part of a call has written is undone, and the call goes on: an ended role binding is replaced", async () => {
      const { token } = await owner();
      const { uid: identityUid } = await owner();
      const target = (await create(token, undefined, "parts")).json.uid;
      const term = { identityUid, roleUid: ownerRole.uid, ttl: "60s" };
      const timed = await send(token, undefined, "POST", `/access/v1/roleBindingTerms/${target}`, term);
      assert.equal(timed.status, 200, timed.text);
      now += 61_000;
      const lasting = () =>
        send(token, "key-10", "POST", `/iam/v2beta1/roleBindings/${target}`, { identityUid, roleUid: ownerRole.uid });
      const first = await lasting();
      assert.equal(first.status, 200, first.text);
      assert.equal((await lasting()).text, first.text);
      assert.notEqual(first.json.uid, timed.json.uid);
    });

    it("an outcome ends with its time and with its organization, and its key is a new one then", async () => {
      const { token, uid } = await owner();
      const first = await create(token, "key-7", "expiring");
      now += 24 * 3_600_000;
      const fresh = await server.tokenOf(uid);
      assert.notEqual((await create(fresh, "key-7", "expiring")).json.uid, first.json.uid);
      const made = await send(fresh, "key-8", "POST", "/iam/v2beta1/groups", { name: `made-${database}.example` });
      assert.equal(made.status, 200, made.text);
      const { createHash } = await import("node:crypto");
      const digest = createHash("sha512").update(`${uid} key-8`).digest().toString("base64url", 0, 32);
      const stored = () => arrange(server, (tx) => findOutcome(tx, digest));
      assert.equal((await stored())?.organization, made.json.uid);
      const gone = await send(fresh, "key-9", "DELETE", `/iam/v2beta1/groups/${made.json.uid}`);
      assert.equal(gone.status, 200, gone.text);
      assert.equal(await stored(), undefined);
    });
  });
}
