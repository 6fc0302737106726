// W: events that are sent to whom strangers name.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createRemoteJWKSet, type JWTVerifyOptions, jwtVerify } from "jose";
import pino from "pino";
import { toConfig } from "../../src/config/config.ts";
import { readSettings } from "../../src/config/read-settings.ts";
import { startServer } from "../../src/server/server.ts";
import { dataDirectory, start } from "../cli/process.ts";
import {
  type Answer,
  accept,
  openSink,
  type Received,
  standingClock,
  startSendingServer,
  status,
  typeOf,
} from "../events/sink.ts";
import { freePort, stopPostgres } from "../harness/postgres.ts";
import { isQuick } from "../harness/quick.ts";
import { rest } from "../harness/rest.ts";
import type { TestServer } from "../harness/server.ts";
import { startTestServer } from "../harness/server.ts";
import { certificate } from "../transport/certificate.ts";

const created = "iam.group.created.v1";
const isGroup = (one: Received) => typeOf(one) === created;

import { databases } from "../harness/databases.ts";
import { addCaller, ownerRole } from "./tree.ts";

after(stopPostgres);

type Caller = Pick<TestServer, "url" | "ownerToken">;

async function subscribe({ url, ownerToken }: Caller, parent: string, sink: string): Promise<string> {
  const { status: code, body } = await rest(url, ownerToken, "POST", `/events/v2beta1/subscriptions/${parent}`, {
    sink,
  });
  assert.equal(code, 200, JSON.stringify(body));
  return body.uid;
}

async function createGroup({ url, ownerToken }: Caller, parent: string, name: string): Promise<string> {
  const { status: code, body } = await rest(url, ownerToken, "POST", `/iam/v2beta1/groups/${parent}`, { name });
  assert.equal(code, 200, JSON.stringify(body));
  return body.uid;
}

/** Returns the names of groups that deliveries tell of. */
const namesIn = (received: readonly Received[]) =>
  received.filter(isGroup).map(({ body }) => JSON.parse(body).body.name as string);

async function countOf({ url }: Pick<TestServer, "url">, outcome: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(
    text.match(new RegExp(`^gatehouse_event_deliveries_total\\{outcome="${outcome}"\\} (\\d+)$`, "m"))?.[1],
  );
}

async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  for (let i = 0; i < 400; i++) {
    if (await holds()) return;
    await pause(25);
  }
  throw new Error(`timed out waiting until ${what}`);
}

describe("the destination of events", () => {
  it("W1: production accepts a name of this machine, but makes no connection, and the attempt fails", async () => {
    await using sink = await openSink();
    const settings = { dev: "false", baseUrl: "http://127.0.0.1", eventDelivery: "on" };
    await using server = await startTestServer({ settings });
    await subscribe(server, server.groupUid, `${sink.url}/callback`);
    await until("the attempt is refused", async () => (await countOf(server, "refused")) > 0);
    assert.equal(sink.connections, 0);
    assert.equal(await countOf(server, "delivered"), 0);
  });

  it("stop while the subscriber lacks the capability, and resume once another caller confirms the subscription", async () => {
    await using sink = await openSink();
    await using server = await startSendingServer();
    const maker = await addCaller(server, server.groupUid, ownerRole.uid);
    const uid = await subscribe({ ...server, ownerToken: maker.token }, server.groupUid, `${sink.url}/callback`);
    await sink.wait(1);
    await rest(server.url, server.ownerToken, "DELETE", `/iam/v2beta1/identities/${maker.uid}`);
    await createGroup(server, server.groupUid, "unseen");
    await until("the attempt is refused", async () => (await countOf(server, "refused")) > 0);
    const state = await rest(server.url, server.ownerToken, "GET", `/gatehouse/events/v1/deliveryStates/${uid}`);
    assert.match(state.body.lastFailure, /not in force: its maker was deleted/);
    assert.deepEqual(namesIn(sink.received), []);
    await rest(server.url, server.ownerToken, "POST", `/gatehouse/iam/v1/delegations/${uid}:confirm`, {});
    await rest(server.url, server.ownerToken, "POST", `/gatehouse/events/v1/deliveryStates/${uid}:retry`, {});
    await sink.wait(1, isGroup);
    assert.deepEqual(namesIn(sink.received), ["unseen"]);
  });

  it("W1: rejects a private address at create, unless the operator allows it", async () => {
    await using closed = await startTestServer();
    await using open = await startSendingServer();
    const sink = { sink: "https://127.0.0.1:9/" };
    const at = ({ url, ownerToken, groupUid }: TestServer) =>
      rest(url, ownerToken, "POST", `/events/v2beta1/subscriptions/${groupUid}`, sink);
    assert.equal((await at(closed)).body.details[1].fieldViolations[0].field, "sink");
    assert.equal((await at(open)).status, 200);
  });

  it("W1: plain http is for this machine in development mode, and goes nowhere else", async () => {
    await using server = await startSendingServer();
    const at = async (sink: string) =>
      (await rest(server.url, server.ownerToken, "POST", `/events/v2beta1/subscriptions/${server.groupUid}`, { sink }))
        .status;
    assert.equal(await at("http://localhost:9/hook"), 200);
    assert.equal(await at("http://127.0.0.1:9/hook"), 200);
    assert.equal(await at("http://93.184.216.34/hook"), 400);
    assert.equal(await at("http://localhost.example.org/hook"), 400);
  });

  it("a group has a hundred subscriptions at most", async () => {
    await using server = await startTestServer();
    const { url, ownerToken, groupUid } = server;
    for (let i = 0; i < 100; i++) await subscribe(server, groupUid, `https://sink.invalid/${i}`);
    const { status: code, body } = await rest(url, ownerToken, "POST", `/events/v2beta1/subscriptions/${groupUid}`, {
      sink: "https://sink.invalid/",
    });
    assert.equal(code, 400);
    assert.match(body.message, /a group may have at most 100 subscriptions; delete one first/);
  });
});

describe("a sent event", () => {
  it("W3: a sent event has a signature that proves its sender, its group and its content", async () => {
    await using sink = await openSink();
    const clock = standingClock();
    await using server = await startSendingServer({ clock });
    await subscribe(server, server.groupUid, sink.url);
    const [{ headers, body }] = (await sink.wait(1)) as [Received];
    const token = headers.authorization!.replace("Bearer ", "");
    const issuer = server.config.baseUrl;
    const { body: discovery } = await rest(issuer, undefined, "GET", "/.well-known/openid-configuration");
    const keys = createRemoteJWKSet(new URL(discovery.jwks_uri));
    const expected: JWTVerifyOptions = {
      issuer,
      audience: "customer",
      subject: `webhook:${server.groupUid}`,
      algorithms: ["RS256"],
      currentDate: new Date(clock()),
    };

    const { payload } = await jwtVerify(token, keys, expected);
    const digest = `sha256:${createHash("sha256").update(body).digest("hex")}`;
    assert.deepEqual(payload.webhook, { digest });
    assert.equal(payload.iat, Math.floor(clock() / 1000));

    const others: JWTVerifyOptions[] = [
      { ...expected, audience: issuer },
      { ...expected, subject: `webhook:${"0".repeat(40)}` },
      { ...expected, currentDate: new Date(clock() + 600_000) },
    ];
    for (const other of others) await assert.rejects(jwtVerify(token, keys, other));
    const changed = createHash("sha256").update(body.replace("sink", "sunk")).digest("hex");
    assert.notEqual(`sha256:${changed}`, digest);
    // It gives no access here: the operator of the sink has seen it.
    assert.equal((await rest(server.url, token, "GET", "/iam/v2beta1/groups")).status, 401);
  });

  it("W4: concerns the subscribed group and its subgroups, and stops with the subscription", async () => {
    await using sink = await openSink();
    const clock = standingClock();
    await using server = await startSendingServer({ clock });
    const [a, b] = [await createGroup(server, server.groupUid, "a"), await createGroup(server, server.groupUid, "b")];
    clock.advance(1_000);
    const uid = await subscribe(server, a, sink.url);
    await createGroup(server, b, "of b");
    const below = await createGroup(server, a, "of a");
    await createGroup(server, below, "below a");
    await createGroup(server, server.groupUid, "sibling of a");
    await until("both are told", () => namesIn(sink.received).length === 2);

    sink.answer = status(500);
    await createGroup(server, a, "rejected");
    await until("it was tried", () => namesIn(sink.received).length === 3);
    const { status: code } = await rest(
      server.url,
      server.ownerToken,
      "DELETE",
      `/events/v2beta1/subscriptions/${uid}`,
    );
    assert.equal(code, 200);
    sink.answer = accept;
    clock.advance(60_000);
    const witness = await openSink();
    await subscribe(server, b, witness.url);
    await witness.wait(1);
    await witness[Symbol.asyncDispose]();
    assert.deepEqual(namesIn(sink.received), ["of a", "below a", "rejected"]);
  });
});

const hostile: readonly (readonly [name: string, answer: Answer])[] = [
  ["does not answer", () => {}],
  ["always fails", status(500)],
  ["sends elsewhere", (_received, response) => void response.writeHead(307, { location: "/other" }).end()],
  [
    "fails at great length",
    (_received, response) => {
      response.writeHead(500, { "content-encoding": "gzip" });
      const bytes = Buffer.alloc(1 << 20);
      const more = () => {
        while (!response.destroyed && response.write(bytes));
      };
      response.on("drain", more);
      more();
    },
  ],
];

describe("a sink", () => {
  for (const [name, answer] of hostile) {
    it(`W2: a sink that ${name} is retried with back-off, and does not delay others`, async () => {
      await using bad = await openSink();
      await using good = await openSink();
      const clock = standingClock();
      const server = await startSendingServer({ clock });
      bad.answer = answer;
      await subscribe(server, server.groupUid, bad.url);
      await subscribe(server, server.groupUid, good.url);
      for (const group of ["a", "b", "c"]) await createGroup(server, server.groupUid, group);
      await until("the others are told", () => namesIn(good.received).length === 3);
      await bad.wait(1);
      // Open deliveries are cut off, as by a receiver that disappears.
      await bad[Symbol.asyncDispose]();
      await until("the attempt has failed", async () => (await countOf(server, "failed")) > 0);
      assert.equal(bad.received.length, 1);
      assert.equal(bad.received[0]!.path, "/");
      await server[Symbol.asyncDispose]();
    });
  }

  it("W2: a sink has twice the back-off after each failure", async () => {
    await using sink = await openSink();
    const clock = standingClock();
    await using server = await startSendingServer({ clock });
    sink.answer = status(503);
    await subscribe(server, server.groupUid, sink.url);
    await sink.wait(1);
    for (const [attempts, seconds] of [1, 2].entries()) {
      await until("the attempt has failed", async () => (await countOf(server, "failed")) === attempts + 1);
      // A quarter more or less.
      clock.advance(seconds * 700);
      await pause(1100);
      assert.equal(sink.received.length, attempts + 1, "it was tried too soon");
      clock.advance(seconds * 600);
      await sink.wait(attempts + 2);
    }
  });
});

describe("events", () => {
  for (const database of databases) {
    it(`W5: events are delivered in order, and retried with the same id and a new signature (${database})`, async () => {
      await using sink = await openSink();
      const clock = standingClock();
      await using server = await startSendingServer({ database, clock });
      sink.answer = status(500);
      await subscribe(server, server.groupUid, sink.url);
      for (const name of ["a", "b", "c"]) await createGroup(server, server.groupUid, name);
      const [first] = await sink.wait(1);
      await until("the attempt has failed", async () => (await countOf(server, "failed")) === 1);
      sink.answer = accept;
      clock.advance(2_000);
      const received = await sink.wait(5);
      const ids = received.map(({ headers }) => headers["ce-id"]);
      assert.equal(ids[0], ids[1]);
      assert.equal(new Set(ids).size, 4);
      assert.equal(received[1]!.body, first!.body);
      assert.notEqual(received[1]!.headers.authorization, first!.headers.authorization);
      assert.deepEqual(namesIn(received), ["a", "b", "c"]);
      assert.deepEqual([await countOf(server, "failed"), await countOf(server, "delivered")], [1, 4]);
    });
  }

  it("W5: reach their sink even if the server is killed between change and delivery", async () => {
    await using sink = await openSink();
    using data = dataDirectory();
    const listen = `127.0.0.1:${await freePort()}`;
    const settings = { dataDir: data.path, listen, privateSinkNetworks: "127.0.0.0/8" };
    writeFileSync(path.join(data.path, "sink.pem"), certificate);
    const args = ["--data-dir", data.path, "--listen", listen, "--private-sink-networks", "127.0.0.0/8"];
    const process = start(["serve", "--dev", "--log-level", "silent", ...args], {
      NODE_EXTRA_CA_CERTS: path.join(data.path, "sink.pem"),
    });
    await process.said(/owner-token/);
    const ownerToken = readFileSync(path.join(data.path, "owner-token"), "utf8");
    const caller = { url: `http://${listen}`, ownerToken };
    const { body: groups } = await rest(caller.url, ownerToken, "GET", "/iam/v2beta1/groups?name=example.org");
    const root = groups.groups[0].uid;
    sink.answer = status(503);
    await subscribe(caller, root, sink.url);
    await sink.wait(1);
    await createGroup(caller, root, "before the end");
    process.child.kill("SIGKILL");
    await process.finished;

    sink.answer = accept;
    // Long enough for the lease of the other process to end.
    const later = () => Date.now() + 60_000;
    const config = toConfig(readSettings({ dev: true, ...settings }, {}));
    await using server = await startServer(config, pino({ level: "silent" }), later);
    assert.ok(server.url);
    const received = await sink.wait(3);
    assert.equal(received[0]!.headers["ce-id"], received[1]!.headers["ce-id"]);
    assert.deepEqual(namesIn(received), ["before the end"]);
  });

  it("W5: events are delivered by one of two servers, and by the other when that one ends", {
    skip: isQuick,
  }, async () => {
    await using sink = await openSink();
    await using one = await startSendingServer({ database: "postgres" });
    const listen = `127.0.0.1:${await freePort()}`;
    const { databaseUrl, baseUrl, dataDir } = one.config;
    const config = toConfig(
      readSettings({ dev: true, listen, databaseUrl, baseUrl, dataDir, privateSinkNetworks: "127.0.0.0/8" }, {}),
    );
    await using two = await startServer(config, pino({ level: "silent" }));
    const [first, second] = [one, { url: two.url, ownerToken: one.ownerToken }];
    await subscribe(first, one.groupUid, sink.url);
    const before = Array.from({ length: 20 }, (_, i) => `before ${i}`);
    for (const [i, name] of before.entries()) await createGroup(i % 2 === 0 ? first : second, one.groupUid, name);
    await sink.wait(before.length, isGroup);
    await one.server.drain();
    const after = Array.from({ length: 5 }, (_, i) => `after ${i}`);
    for (const name of after) await createGroup(second, one.groupUid, name);
    await sink.wait(before.length + after.length, isGroup);
    assert.deepEqual(namesIn(sink.received), [...before, ...after]);
  });
});
