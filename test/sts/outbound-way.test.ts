// The way to issuers that an operator's network asks for: a proxy, a private authority; and what is said where it is not found.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createServer as createSilentServer } from "node:net";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { createSecureContext } from "node:tls";
import { parseBypass, parseProxy } from "../../src/base/proxies.ts";
import { fetchJson, outboundLimits } from "../../src/outbound/http.ts";
import { dataDirectory } from "../cli/process.ts";
import { type Issued, newAuthority } from "../harness/authority.ts";
import { startProxy } from "../harness/connect-proxy.ts";
import { keptLog } from "../harness/kept-log.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { certificate, certificateKey } from "../transport/certificate.ts";
import { discoveryPath, keyPair, keySetText, signOutside } from "./outside.ts";

const key = keyPair("ES256");
const authority = newAuthority();
const past = { notBefore: new Date(Date.now() - 3e9), notAfter: new Date(Date.now() - 1e9) };

/** Returns an https issuer on loopback, which goes by the given names. */
async function startHttpsIssuer(tls: Issued, issuerOf: (port: number) => string) {
  const server = createServer(tls, (request, response) => {
    const { port } = server.address() as AddressInfo;
    const issuer = issuerOf(port);
    response.end(
      request.url === discoveryPath ? JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }) : keySetText(key),
    );
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { port, url: issuerOf(port), close, [Symbol.asyncDispose]: close };
}

/** Creates an identity for the issuer and exchanges a token of it. */
async function exchange(server: TestServer, issuer: string) {
  const identity = { name: "ci", claimMatch: { issuer, subject: "ci" } };
  const created = await rest(
    server.url,
    server.ownerToken,
    "POST",
    `/iam/v2beta1/identities/${server.groupUid}`,
    identity,
  );
  assert.equal(created.status, 200, JSON.stringify(created.body));
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, sub: "ci", aud: server.config.baseUrl, iat: now, exp: now + 60 };
  const query = new URLSearchParams({ aud: server.config.baseUrl, identity: created.body.uid });
  return await rest(server.url, await signOutside(key, claims), "GET", `/sts/exchange?${query}`);
}

describe("an issuer behind a proxy, with a certificate of a private authority", () => {
  const directory = dataDirectory();
  const issuerCa = path.join(directory.path, "authority.pem");
  const closing: (() => Promise<unknown>)[] = [];
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  const ports: Record<string, number> = {};
  before(async () => {
    writeFileSync(issuerCa, `# for tests\n${certificate}${authority.cert}`);
    const servers: readonly (readonly [host: string, tls: Issued])[] = [
      ["issuer.test", authority.issue("issuer.test")],
      ["expired.test", authority.issue("expired.test", past)],
      ["other.test", authority.issue("issuer.test")],
      ["foreign.test", newAuthority("Another authority").issue("foreign.test")],
    ];
    for (const [host, tls] of servers) {
      const { port, close } = await startHttpsIssuer(tls, () => `https://${host}`);
      ports[host] = port;
      closing.push(close);
    }
    proxy = await startProxy(ports);
  });
  after(async () => {
    await proxy[Symbol.asyncDispose]();
    for (const close of closing) await close();
    directory[Symbol.dispose]();
  });

  it("is asked through the proxy, with its user and password, though no name is known here", async () => {
    const settings = { httpsProxy: `http://gate:p%40ss@${proxy.host}`, issuerCa };
    await using server = await startTestServer({ settings });
    const { status, body } = await exchange(server, "https://issuer.test");
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(new Set(proxy.asked), new Set(["CONNECT issuer.test:443 as gate:p@ss"]));
  });

  it("an issuer in NO_PROXY is contacted directly, which fails here", async () => {
    const settings = { httpsProxy: `http://${proxy.host}`, noProxy: "elsewhere.test,.test", issuerCa };
    await using server = await startTestServer({ settings });
    proxy.asked.length = 0;
    const { status } = await exchange(server, "https://issuer.test");
    assert.deepEqual([status, proxy.asked], [503, []]);
  });

  it("is never one of a private address, which a proxy would reach for us", async () => {
    await using server = await startTestServer({ settings: { httpsProxy: `http://${proxy.host}`, issuerCa } });
    proxy.asked.length = 0;
    const { status, body } = await exchange(server, "https://169.254.169.254");
    assert.deepEqual([status, proxy.asked], [403, []], JSON.stringify(body));
  });

  const untrusted: readonly (readonly [host: string, said: string])[] = [
    ["expired.test", "it has expired (CERT_HAS_EXPIRED)"],
    ["other.test", "it is for another host (ERR_TLS_CERT_ALTNAME_INVALID)"],
    [
      "foreign.test",
      "the authority that signed it is not trusted, or its chain is incomplete (UNABLE_TO_VERIFY_LEAF_SIGNATURE)",
    ],
  ];
  it("the error tells an untrusted certificate from an issuer that does not respond", async () => {
    const log = keptLog();
    const settings = { httpsProxy: `http://${proxy.host}`, issuerCa };
    await using server = await startTestServer({ settings, log: log.stream });
    for (const [host, said] of untrusted) {
      const { status, body } = await exchange(server, `https://${host}`);
      const message = `the issuer of the subject token cannot be asked: certificate not trusted: ${said}`;
      assert.equal(status, 503);
      assert.ok(body.message.endsWith(message), body.message);
      assert.ok(
        log.lines().some((line) => line.includes(`certificate not trusted: ${said}`)),
        host,
      );
    }
  });
});

describe("an https issuer on this machine", () => {
  it("is asked in development, if its certificate is trusted, and never in production", async () => {
    using directory = dataDirectory();
    const issuerCa = path.join(directory.path, "authority.pem");
    writeFileSync(issuerCa, authority.cert);
    await using issuer = await startHttpsIssuer(authority.issue("127.0.0.1"), (port) => `https://127.0.0.1:${port}`);
    await using server = await startTestServer({ settings: { issuerCa } });
    assert.equal((await exchange(server, issuer.url)).status, 200);
    await using without = await startTestServer();
    assert.match((await exchange(without, issuer.url)).body.message, /certificate not trusted: .*UNABLE_TO_VERIFY/);
    const production = { ...outboundLimits, allowLoopbackHttp: false };
    await assert.rejects(fetchJson(issuer.url, production), { failure: "refused", message: /not public/ });
  });

  it("an issuer with a self-signed certificate is not trusted", async () => {
    await using issuer = await startHttpsIssuer(
      { cert: certificate, key: certificateKey },
      (port) => `https://127.0.0.1:${port}`,
    );
    const trust = () => createSecureContext({ ca: authority.cert });
    const options = { ...outboundLimits, allowLoopbackHttp: true, allowLoopbackHttps: true, trust };
    await assert.rejects(fetchJson(issuer.url, options), {
      failure: "untrusted",
      message: "certificate not trusted: it is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)",
    });
  });
});

describe("a proxy", () => {
  const through = (url: string) => ({
    ...outboundLimits,
    timeoutMs: 300,
    allowLoopbackHttp: false,
    proxies: { https: parseProxy(url), http: parseProxy(url), bypass: parseBypass("") },
  });

  it("the error names a proxy that rejects the connection", async () => {
    await using proxy = await startProxy({});
    await assert.rejects(fetchJson("https://issuer.test", through(proxy.host)), {
      failure: "unavailable",
      message: "the proxy answers 502 to CONNECT",
    });
  });

  it("a proxy that does not respond is given up in time, and its connection closed", async () => {
    const server = createSilentServer();
    const closed = new Promise((resolve) => server.on("connection", (socket) => socket.on("close", resolve).resume()));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await assert.rejects(fetchJson("https://issuer.test", through(`127.0.0.1:${port}`)), { failure: "unavailable" });
    await closed;
    server.close();
  });

  it("the error names a proxy that does not exist", async () => {
    await assert.rejects(fetchJson("https://issuer.test", through("127.0.0.1:1")), {
      message: "the proxy does not answer",
    });
  });

  it("is given whole URLs of http, which the operator alone names", async () => {
    const { createServer: createPlainServer } = await import("node:http");
    const registry = createPlainServer((request, response) => response.end(JSON.stringify(request.headers.host)));
    await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
    await using proxy = await startProxy({ "registry.test": (registry.address() as AddressInfo).port });
    assert.equal(await fetchJson("http://registry.test/v2/", { ...through(proxy.host), isOwn: true }), "registry.test");
    assert.deepEqual(proxy.asked, ["GET http://registry.test/v2/"]);
    registry.close();
  });
});
