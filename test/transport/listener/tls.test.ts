import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, request as httpsRequest } from "node:https";
import { connect as connectTcp } from "node:net";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { type ConnectionOptions, connect, getCiphers, type TLSSocket } from "node:tls";
import type { Listener } from "../../../src/transport/listener/listener.ts";
import { certificate, certificateKey } from "../certificate.ts";
import { collect, echo, get2, listen, rawClient, session, type TestOptions } from "../harness.ts";
import { makeCertificate } from "../openssl-certificate.ts";

const tls = { cert: certificate, key: certificateKey };

test("tls: a client that offers HTTP/2 gets it", async (t) => {
  const listener = await listenTls(t);
  assert.match(listener.address.url, /^https:\/\/127\.0\.0\.1:\d+$/);
  const client = session(t, listener, { ca: certificate });
  const reply = await get2(client, "/x");
  assert.equal(JSON.parse(reply.body).httpVersion, "2.0");
  assert.equal(client.alpnProtocol, "h2");
});

test("tls: other clients get HTTP/1.1, connection after connection and request after request", async (t) => {
  const listener = await listenTls(t);
  const agent = new Agent({ keepAlive: true, ca: certificate });
  t.after(() => agent.destroy());
  for (const path of ["/a", "/b"]) {
    const request = httpsRequest(`${listener.address.url}${path}`, { agent }).end();
    const [response] = await once(request, "response");
    const { url, httpVersion } = JSON.parse(await text(response));
    assert.deepEqual([url, httpVersion], [path, "1.1"]);
  }
});

const offers: [name: string, protocols: string[] | undefined][] = [
  ["no ALPN at all", undefined],
  ["ALPN http/1.1", ["http/1.1"]],
];

for (const [name, ALPNProtocols] of offers) {
  test(`tls: a client with ${name} is served HTTP/1.1, byte by byte too`, async (t) => {
    const listener = await listenTls(t);
    const socket = await secure(t, listener, { ...(ALPNProtocols && { ALPNProtocols }) });
    const client = collect(socket);
    for (const byte of "GET / HTTP/1.0\r\nHost: a\r\n\r\n") socket.write(byte);
    assert.match(await client.ended, /^HTTP\/1\.1 200 .*"httpVersion":"1\.0"/s);
  });
}

test("tls: the handler sees that the connection is encrypted, over both versions of HTTP", async (t) => {
  const listener = await listenTls(t, {
    handler: (request, response) =>
      void response.end(String("encrypted" in request.socket && request.socket.encrypted)),
  });
  assert.equal((await get2(session(t, listener, { ca: certificate }), "/")).body, "true");
  const socket = await secure(t, listener, {});
  const client = collect(socket);
  socket.write("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
  assert.match(await client.ended, /true$/);
});

for (const version of ["TLSv1", "TLSv1.1"] as const) {
  test(`C4 tls: a client that speaks ${version} at most is rejected by an alert`, async (t) => {
    const listener = await listenTls(t);
    // OpenSSL itself offers these versions at security level 0 only.
    const old = { minVersion: version, maxVersion: version, ciphers: "DEFAULT@SECLEVEL=0" };
    await assert.rejects(secure(t, listener, old), { code: "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION" });
  });
}

test("C4 tls: a client that speaks TLS 1.2 is served", async (t) => {
  const socket = await secure(t, await listenTls(t), { maxVersion: "TLSv1.2" });
  assert.equal(socket.getProtocol(), "TLSv1.2");
});

/** RFC 9325 §4.2. */
const acceptedSuites = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES256-GCM-SHA384",
];

for (const keyType of ["ec", "rsa"] as const)
  test(`C4 tls: with a key of type ${keyType}, TLS 1.2 succeeds with ECDHE and AES-GCM only`, async (t) => {
    const listener = await listenTls(t, { tls: makeCertificate({ keyType }) });
    const succeeded: string[] = [];
    // Those of TLS 1.3 begin with tls_, and those with a shared key or password cannot be offered here.
    const suites = getCiphers().filter((suite) => !/^tls_|psk|srp/.test(suite));
    assert.ok(
      suites.includes("aes128-sha") && suites.includes("ecdhe-rsa-aes128-sha"),
      "static RSA and CBC are offered",
    );
    for (const suite of suites) {
      const offer = {
        ciphers: `${suite.toUpperCase()}:@SECLEVEL=0`,
        maxVersion: "TLSv1.2",
        ALPNProtocols: ["h2"],
      } as const;
      const socket = await secure(t, listener, { ...offer, rejectUnauthorized: false }).catch(() => undefined);
      if (socket) succeeded.push(socket.getCipher().name);
    }
    const name = keyType === "ec" ? "ECDSA" : "RSA";
    assert.deepEqual(
      succeeded.sort(),
      acceptedSuites.filter((suite) => suite.includes(name)),
    );
  });

test("C4 tls: a client may not renegotiate (RFC 9113 §9.2.1)", async (t) => {
  const socket = await secure(t, await listenTls(t), { maxVersion: "TLSv1.2" });
  const secured = once(socket, "secure").then(() => "renegotiated");
  const failed = new Promise((resolve) => socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code)));
  socket.renegotiate({}, () => {});
  assert.equal(await Promise.race([secured, failed]), "ERR_SSL_NO_RENEGOTIATION");
});

test("tls: a client that offers protocols we do not speak is rejected (RFC 7301 §3.2)", async (t) => {
  const listener = await listenTls(t);
  await assert.rejects(secure(t, listener, { ALPNProtocols: ["spdy/3"] }), { code: /NO_APPLICATION_PROTOCOL/ });
});

test("D6 tls: a client that is silent in the handshake is disconnected", async (t) => {
  const client = rawClient(t, await listenTls(t, { limits: { prefaceTimeoutMs: 100 } }));
  assert.equal(await client.ended, "");
});

for (const protocol of ["h2", "http/1.1"]) {
  test(`D6 tls: a client that is silent after the handshake for ${protocol} is disconnected`, async (t) => {
    // The handshake is a part of this time, and takes a while on a busy machine.
    const listener = await listenTls(t, { limits: { prefaceTimeoutMs: 500 } });
    const socket = await secure(t, listener, { ALPNProtocols: [protocol] });
    assert.equal(socket.alpnProtocol, protocol);
    await collect(socket).ended;
  });
}

test("tls: plaintext on the TLS port ends that connection and no other", async (t) => {
  const listener = await listenTls(t);
  const client = rawClient(t, listener);
  client.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  assert.doesNotMatch(await client.ended, /HTTP/);
  assert.equal((await get2(session(t, listener, { ca: certificate }), "/")).status, 200);
});

test("tls: a client that hangs up in the handshake harms no other client", async (t) => {
  const listener = await listenTls(t);
  const socket = connectTcp(listener.address.port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(Buffer.from([22, 3, 1, 2]));
  socket.resetAndDestroy();
  assert.equal((await get2(session(t, listener, { ca: certificate }), "/")).status, 200);
});

const broken: [name: string, options: { cert: string; key: string }, wanted: RegExp][] = [
  ["a certificate that is not PEM", { ...tls, cert: "x" }, /^tls\.cert or tls\.key can't be used: /],
  ["a key that is not PEM", { ...tls, key: "x" }, /^tls\.cert or tls\.key can't be used: /],
];

for (const [name, options, message] of broken) {
  test(`tls: ${name} is rejected before the port opens, naming the option`, async (t) => {
    await assert.rejects(listenTls(t, { tls: options }), { message });
  });
}

function listenTls(t: TestContext, options: TestOptions = {}): Promise<Listener> {
  return listen(t, { handler: echo, tls, ...options });
}

async function secure(t: TestContext, listener: Listener, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", port: listener.address.port, ca: certificate, ...options });
  t.after(() => socket.destroy());
  await once(socket, "secureConnect");
  return socket;
}
