// The limits of streams of changes, how they end, and changes of other processes.
import assert from "node:assert/strict";
import { request } from "node:http";
import { after, describe, it } from "node:test";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { GroupsService } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { builtInRoles } from "../../../../src/authz/built-in-roles.ts";
import { newWatchAdmission } from "../../../../src/services/audit-log/watch/watch-admission.ts";
import { databases, writingServers } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { rest } from "../../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";
import { startTwoNodes } from "../../../harness/two-nodes.ts";
import { until } from "../../../harness/until.ts";
import { type Watch, watch } from "../../../harness/watches.ts";

after(stopPostgres);

const owner = builtInRoles.find(({ name }) => name === "owner")!.uid;

async function call(url: string, token: string, path: string, body: unknown) {
  const reply = await rest(url, token, "POST", path, body);
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  return reply.body;
}

const newGroup = ({ url, ownerToken, groupUid }: TestServer, name: string, description = "") =>
  call(url, ownerToken, `/iam/v2beta1/groups/${groupUid}`, { name, description });
const open = ({ url, ownerToken, groupUid }: TestServer, more = {}): Watch =>
  watch("grpc", { url, token: ownerToken }, { parent: groupUid, kind: "groups", ...more });
const nameIn = async (stream: Watch) => (await stream.nextChanges()).changes[0]!.after!.name;

describe("limits of streams of changes", () => {
  it("a caller has at most 100 streams, a process as many as its setting, and a closed one makes room", () => {
    const admission = newWatchAdmission(150);
    const own = Array.from({ length: 100 }, () => admission.enter("one"));
    assert.throws(() => admission.enter("one"), { reason: "TOO_MANY_WATCHES" });
    for (let i = 0; i < 50; i++) admission.enter("other");
    assert.throws(() => admission.enter("third"), { reason: "TOO_MANY_WATCHES" });
    own[0]![Symbol.dispose]();
    admission.enter("third");
    assert.equal(admission.open, 150);
  });

  it("a stream beyond --max-watches gets RESOURCE_EXHAUSTED, until another one ends", async () => {
    await using server = await startTestServer({ settings: { maxWatches: "1" } });
    const first = open(server);
    await first.next();
    await using second = open(server);
    assert.equal((await second.end()).code, "RESOURCE_EXHAUSTED");
    const target = { url: server.url, token: server.ownerToken };
    const { status, headers } = await rest(
      server.url,
      server.ownerToken,
      "GET",
      `/gatehouse/changes/v1/changes:watch?parent=${server.groupUid}`,
    );
    assert.deepEqual([status, headers.get("retry-after")], [429, "30"]);
    await first[Symbol.asyncDispose]();
    await until("room for a stream", async () => {
      await using again = watch("rest", target, { parent: server.groupUid });
      return await again.next().catch(() => undefined);
    });
  });

  it("a call has a response next to 300 streams of three callers on its HTTP/2 connection", async () => {
    await using server = await startTestServer();
    const session = new Http2SessionManager(server.url);
    const tokens = [server.ownerToken];
    for (const name of ["second", "third"]) {
      const claimMatch = { issuer: "https://issuer.example.org", subject: name };
      const { url, ownerToken, groupUid } = server;
      const { uid } = await call(url, ownerToken, `/iam/v2beta1/identities/${groupUid}`, { name, claimMatch });
      await call(url, ownerToken, `/iam/v2beta1/roleBindings/${groupUid}`, { identityUid: uid, roleUid: owner });
      tokens.push(await server.tokenOf(uid));
    }
    const request = { parent: server.groupUid, kind: "groups" };
    const streams = tokens.flatMap((token) =>
      Array.from({ length: 100 }, () => watch("grpc", { url: server.url, token, session }, request)),
    );
    await Promise.all(streams.map((stream) => stream.next()));
    const transport = createGrpcTransport({ baseUrl: server.url, sessionManager: session });
    const headers = { authorization: `Bearer ${server.ownerToken}` };
    const { uid } = await createClient(GroupsService, transport).getGroup({ uid: server.groupUid }, { headers });
    assert.equal(uid, server.groupUid);
    await newGroup(server, "for-all");
    assert.deepEqual([...new Set(await Promise.all(streams.map(nameIn)))], ["for-all"]);
    await using over = watch("grpc", { url: server.url, token: server.ownerToken, session }, request);
    assert.equal((await over.end()).code, "RESOURCE_EXHAUSTED");
    await Promise.all(streams.map((stream) => stream[Symbol.asyncDispose]()));
    session.abort();
  });

  it("a client that does not read its stream delays no other", async () => {
    await using server = await startTestServer();
    const headers = { authorization: `Bearer ${server.ownerToken}` };
    const path = `/gatehouse/changes/v1/changes:watch?parent=${server.groupUid}`;
    const lazy = request(`${server.url}${path}`, { headers });
    await new Promise<void>((resolve) => lazy.end().on("response", (response) => resolve(void response.pause())));
    await using stream = open(server);
    await stream.next();
    const names = Array.from({ length: 40 }, (_, i) => `long-${i}`);
    const seen: unknown[] = [];
    for (const name of names) await newGroup(server, name, "x".repeat(500));
    while (seen.length < names.length)
      seen.push(...(await stream.nextChanges()).changes.map(({ after }) => after!.name));
    assert.deepEqual(seen, names);
    lazy.destroy();
  });
});

describe("the end of streams of changes", () => {
  it("a stream ends with UNAVAILABLE when its token has expired", async () => {
    let ahead = 0;
    await using server = await startTestServer({ clock: () => Date.now() + ahead });
    await using stream = open(server);
    await stream.next();
    ahead = 2 * 60 * 60 * 1000;
    const { code, message } = await stream.end();
    assert.equal(code, "UNAVAILABLE");
    assert.match(message, /token is no longer valid/);
  });

  it("a stream ends with UNAVAILABLE when its connection has reached its age", async () => {
    await using server = await startTestServer({ settings: { maxConnectionAge: "1" } });
    await using stream = open(server);
    const { resumeAfter } = await stream.next();
    assert.equal((await stream.end()).code, "UNAVAILABLE");
    await newGroup(server, "in-between");
    await using again = open(server, { after: resumeAfter });
    assert.equal(await nameIn(again), "in-between");
  });

  it("a heartbeat with a position comes while nothing changes", async () => {
    await using server = await startTestServer();
    await using stream = open(server);
    const first = await stream.next();
    const second = await stream.next();
    assert.deepEqual([second.changes, second.accessChanged], [[], false]);
    assert.notEqual(second.resumeAfter, first.resumeAfter);
  });
});

describe("streams of changes and other processes", () => {
  for (const [title, options] of Object.entries(writingServers))
    it(`${title}: a stream has the changes of calls to the same server`, async () => {
      await using server = await startTestServer(options);
      await using stream = open(server);
      await stream.next();
      await newGroup(server, "written");
      assert.equal(await nameIn(stream), "written");
    });

  if (databases.includes("postgres"))
    it("a stream of one server has the changes of another one, and continues there", async () => {
      await using nodes = await startTwoNodes();
      const { one, other } = nodes;
      const atOther = (more = {}) =>
        watch("connect", { url: other.url, token: one.ownerToken }, { parent: one.groupUid, kind: "groups", ...more });
      await using stream = atOther();
      await stream.next();
      await newGroup(one, "of-one");
      const { changes, resumeAfter } = await stream.nextChanges();
      assert.equal(changes[0]!.after!.name, "of-one");
      await newGroup(one, "later");
      await using again = open(one, { after: resumeAfter });
      assert.equal(await nameIn(again), "later");
    });
});
