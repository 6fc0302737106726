// Tests which connections are closed if there are too many: of one client, of one network, of all.

import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { BlockList, connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import type { HttpHandler } from "../../../src/transport/http/handlers.ts";
import type { ListenerLimits } from "../../../src/transport/listener/limits.ts";
import type { Listener } from "../../../src/transport/listener/listener.ts";
import { certificate, certificateKey } from "../certificate.ts";
import { frameClient } from "../frames.ts";
import { collect, echo, listen, type RawClient, type TestOptions } from "../harness.ts";

/** Longer than any test. */
const farOff = 2 ** 30;
const patient: Partial<ListenerLimits> = {
  prefaceTimeoutMs: farOff,
  headersTimeoutMs: farOff,
  requestTimeoutMs: farOff,
  keepAliveTimeoutMs: farOff,
  http2IdleTimeoutMs: farOff,
};

// Each its own /24.
const [mallory, alice, bob, proxy] = ["127.0.1.1", "127.0.2.1", "127.0.3.1", "127.0.4.1"];
const malloryToo = "127.0.1.2";

interface Port {
  readonly listener: Listener;
  /** Returns a connection from an address, which the listener has accepted when this resolves. */
  connection(from: string): Promise<RawClient>;
  /** One whose request is held back. */
  busy(from: string): Promise<RawClient>;
  /** Whether a request from an address is answered, on a connection of its own that then is closed. */
  isServed(from: string): Promise<boolean>;
}

async function open(t: TestContext, { limits, ...options }: TestOptions): Promise<Port> {
  const held = Promise.withResolvers<void>();
  t.after(() => held.resolve());
  let arrived = Promise.withResolvers<void>();
  const handler: HttpHandler = async (request, response) => {
    if (request.url === "/wait") {
      arrived.resolve();
      await held.promise;
    }
    return echo(request, response);
  };
  const listener = await listen(t, { ...options, handler, limits: { ...patient, ...limits } });
  const { port } = listener.address;
  const dial = async (from: string) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress: from });
    t.after(() => socket.destroy());
    const client = collect(socket);
    await once(socket, "connect");
    return client;
  };
  return {
    listener,
    connection: dial,
    async busy(from) {
      const client = await dial(from);
      arrived = Promise.withResolvers();
      client.socket.write("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
      await Promise.race([arrived.promise, client.ended]);
      return client;
    },
    async isServed(from) {
      const client = await dial(from);
      client.socket.write("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
      return /200 OK/.test(await client.ended);
    },
  };
}

async function sessionOf(t: TestContext, { address }: Listener, from: string, tls?: { ca: string }) {
  const session = connectHttp2(address.url, { localAddress: from, ...tls } as object);
  session.on("error", () => {});
  t.after(() => session.destroy());
  await once(session, "connect");
  return session;
}

/** Resolves once the server has seen what the session has sent. */
async function roundTrip(session: ClientHttp2Session): Promise<void> {
  await new Promise((resolve) => session.ping(resolve));
}

const areOpen = (clients: readonly RawClient[]) => clients.map(({ socket }) => !socket.closed);

async function closed(...clients: readonly RawClient[]): Promise<void> {
  for (const { ended } of clients) await ended;
}

test("shares: another client is served if one holds all connections idle, and the longest idle is closed", async (t) => {
  const port = await open(t, { limits: { maxConnections: 8 } });
  const silent: RawClient[] = [];
  for (let i = 0; i < 8; i++) silent.push(await port.connection(mallory));
  for (let i = 0; i < 3; i++) assert.equal(await port.isServed(alice), true);
  // One place was enough for all three, since each of them was closed.
  await closed(silent[0]!);
  assert.deepEqual(areOpen(silent), [false, true, true, true, true, true, true, true]);
});

test("shares: a client that has its share closes connections of its own, and of nobody else", async (t) => {
  const port = await open(t, { limits: { maxConnectionsPerClient: 2 } });
  const others = [await port.connection(alice), await port.connection(malloryToo)];
  const own = [await port.connection(mallory), await port.connection(mallory), await port.connection(mallory)];
  assert.equal(await port.isServed(mallory), true);
  await closed(own[0]!, own[1]!);
  assert.deepEqual(
    [areOpen(own), areOpen(others)],
    [
      [false, false, true],
      [true, true],
    ],
  );
});

test("shares: the clients of a network share what it may have", async (t) => {
  const port = await open(t, { limits: { maxConnectionsPerClient: 2, maxConnectionsPerNetwork: 3 } });
  const other = await port.connection(alice);
  const first = await port.connection(mallory);
  const rest = [await port.connection(mallory), await port.connection(malloryToo), await port.connection(malloryToo)];
  await closed(first);
  assert.deepEqual(areOpen([other, ...rest]), [true, true, true, true]);
});

const silences: [what: string, begin: (client: RawClient) => Promise<unknown> | unknown][] = [
  ["has sent nothing", () => {}],
  ["has sent a part of its first line", ({ socket }) => socket.write("GE")],
  ["has sent a part of its headers", ({ socket }) => socket.write("GET / HTTP/1.1\r\nHost: a\r\nX: ")],
  [
    "has had an answer",
    (client) => {
      client.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      return client.until(/\}$/);
    },
  ],
];
for (const [what, begin] of silences) {
  test(`shares: a connection that ${what} is silent, and goes before one with a request`, async (t) => {
    const port = await open(t, { limits: { maxConnections: 3 } });
    const working = await port.busy(mallory);
    const silent = await port.connection(mallory);
    await begin(silent);
    const fresh = await port.connection(alice);
    assert.equal(await port.isServed(bob), true);
    await closed(silent);
    assert.deepEqual(areOpen([working, fresh]), [true, true]);
  });
}

test("shares: a session of HTTP/2 without a stream is silent, also when it pings; one with a stream is not", async (t) => {
  const port = await open(t, { limits: { maxConnections: 2 } });
  const working = await sessionOf(t, port.listener, mallory);
  const idle = await sessionOf(t, port.listener, mallory);
  working.request({ ":path": "/wait" }).on("error", () => {});
  for (const session of [working, idle]) await roundTrip(session);
  assert.equal(await port.isServed(alice), true);
  if (!idle.closed) await once(idle, "close");
  assert.equal(working.closed, false);
});

test("shares: a client that has its share of requests gets no further connection, and keeps those", async (t) => {
  const port = await open(t, { limits: { maxConnectionsPerClient: 2 } });
  const own = [await port.busy(mallory), await port.busy(mallory)];
  assert.equal(await port.isServed(mallory), false);
  assert.equal(await port.isServed(alice), true);
  assert.deepEqual(areOpen(own), [true, true]);
});

test("shares: a client that holds fewer connections gets the place of one that holds most if requests hold all", async (t) => {
  const port = await open(t, { limits: { maxConnections: 4 } });
  const held = [await port.busy(mallory), await port.busy(mallory), await port.busy(mallory)];
  const own = await port.busy(alice);
  assert.equal(await port.isServed(mallory), false);
  assert.equal(await port.isServed(bob), true);
  await closed(held[0]!);
  assert.deepEqual(areOpen([...held.slice(1), own]), [true, true, true]);
  assert.equal((await port.busy(bob)).socket.closed, false);
  // Now everybody holds as many as the next, or one more.
  assert.equal(await port.isServed(alice), false);
});

test("shares: clients that hold one connection each give way to one more, the longest idle first", async (t) => {
  const port = await open(t, { limits: { maxConnections: 3 } });
  const silent: RawClient[] = [];
  for (const from of [alice, bob, mallory]) silent.push(await port.connection(from));
  assert.equal(await port.isServed("127.0.9.1"), true);
  await closed(silent[0]!);
  assert.deepEqual(areOpen(silent), [false, true, true]);
});

const proxies = new BlockList();
proxies.addAddress(proxy, "ipv4");

test("shares: a trusted proxy has no share, and its connections give way to none but its own", async (t) => {
  const limits = { maxConnections: 6, maxConnectionsPerClient: 1, maxConnectionsPerNetwork: 1 };
  const port = await open(t, { limits, trustedProxies: proxies });
  const ofProxy: RawClient[] = [];
  for (let i = 0; i < 5; i++) ofProxy.push(await port.connection(proxy));
  const stranger = await port.connection(mallory);
  // The proxy holds most, and a stranger goes all the same.
  assert.equal(await port.isServed(alice), true);
  await closed(stranger);
  assert.deepEqual(areOpen(ofProxy), [true, true, true, true, true]);
  ofProxy.push(await port.connection(proxy));
  assert.equal(await port.isServed(alice), false);
  assert.equal(await port.isServed(proxy), true);
  await closed(ofProxy[0]!);
  assert.deepEqual(areOpen(ofProxy.slice(1)), [true, true, true, true, true]);
});

test("shares: with TLS, connections that never begin a handshake give way, and those that speak are counted", async (t) => {
  const tls = { cert: certificate, key: certificateKey };
  const port = await open(t, { tls, limits: { maxConnections: 3 } });
  const silent = [await port.connection(mallory), await port.connection(mallory), await port.connection(mallory)];
  const session = await sessionOf(t, port.listener, alice, { ca: certificate });
  session.request({ ":path": "/wait" }).on("error", () => {});
  await roundTrip(session);
  await closed(silent[0]!);
  await port.connection(bob);
  await closed(silent[1]!);
  assert.deepEqual([session.closed, silent[2]!.socket.closed], [false, false]);
});

test("shares: a place is free again after every kind of end, and nothing is counted that has gone", async (t) => {
  const port = await open(t, { limits: { maxConnections: 2, maxConnectionsPerClient: 1 } });
  const ends: ((socket: Socket) => void)[] = [
    (socket) => socket.destroy(),
    (socket) => socket.resetAndDestroy(),
    (socket) => socket.write("nonsense\r\n\r\n"),
    (socket) => socket.end(),
  ];
  for (const end of ends) {
    const client = await port.connection(mallory);
    end(client.socket);
    await client.ended;
  }
  const client = frameClient(port.listener.address.port);
  client.socket.destroy();
  const kept = await port.connection(alice);
  assert.equal(await port.isServed(mallory), true);
  assert.equal(kept.socket.closed, false);
});
