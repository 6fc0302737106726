// Strict-Transport-Security (RFC 6797): in every response over TLS, of every part of the server, and for no host of this machine.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { connect } from "node:tls";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { certificate, certificateKey } from "../transport/certificate.ts";

const name = "gatehouse.example.com";
const year = "max-age=31536000";

type Headers = Readonly<Record<string, string>>;

/** Requests to different parts of the server, with the status of each response. */
const requests: [what: string, method: string, path: string, headers: Headers, status: number][] = [
  ["a probe", "GET", "/healthz", {}, 200],
  ["the key set", "GET", "/.well-known/jwks.json", {}, 200],
  ["an unknown path", "GET", "/nowhere", {}, 404],
  ["REST without a token", "GET", "/iam/v2beta1/groups", {}, 401],
  ["REST with a method that the path lacks", "PUT", "/iam/v2beta1/groups", {}, 405],
  ["SCIM without a token", "GET", "/scim/v2/x/Users", {}, 401],
  ["the sign-in of a registry", "GET", "/token", {}, 401],
  ["the sign-in page", "GET", "/oauth", {}, 400],
  ["the guides", "GET", "/docs/", {}, 200],
  ["an OpenAPI document", "GET", "/openapi/", {}, 200],
  [
    "a CORS preflight",
    "OPTIONS",
    "/openapi/",
    { origin: "https://a.test", "access-control-request-method": "GET" },
    204,
  ],
  [
    "a Connect call",
    "POST",
    "/chainguard.platform.iam.v2beta1.GroupsService/ListGroups",
    { "content-type": "application/proto" },
    401,
  ],
  ["the health service", "POST", "/grpc.health.v1.Health/Check", { "content-type": "application/proto" }, 200],
  ["a request with too many headers", "GET", "/healthz", { x: "a".repeat(20_000), y: "a".repeat(14_000) }, 431],
  ["an expectation", "POST", "/healthz", { expect: "miracles" }, 417],
  ["TRACE", "TRACE", "/", {}, 405],
];

/** Sends one request over HTTP/1.1, and returns the head of the response. */
async function head1(url: string, head: string, servername: string | undefined): Promise<string> {
  const { hostname: host, port, protocol } = new URL(url);
  const options = { host, port: Number(port) };
  const socket =
    protocol === "https:"
      ? connect({ ...options, rejectUnauthorized: false, ...(servername && { servername }) })
      : connectTcp(options);
  await once(socket, protocol === "https:" ? "secureConnect" : "connect");
  let received = "";
  socket.setEncoding("latin1").on("data", (chunk) => {
    received += chunk;
  });
  socket.on("error", () => {});
  socket.write(head);
  await once(socket, "close");
  return received.split("\r\n\r\n")[0]!;
}

function send1(url: string, method: string, target: string, headers: Headers, host = name): Promise<string> {
  const all = { host, connection: "close", "content-length": "0", ...headers };
  const lines = Object.entries(all).map(([key, value]) => `${key}: ${value}\r\n`);
  return head1(url, `${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`, name);
}

async function send2(url: string, method: string, target: string, headers: Headers, host = name) {
  const session = connectHttp2(url, { rejectUnauthorized: false });
  try {
    const stream = session.request({ ":method": method, ":path": target, ":authority": host, ...headers });
    stream.resume().end();
    const [received] = await once(stream, "response");
    return received as Record<string, string | number | undefined>;
  } finally {
    session.destroy();
  }
}

const headerOf = (head: string) => /^strict-transport-security: (.*)$/im.exec(head)?.[1];

describe("Strict-Transport-Security", () => {
  let folder: string;
  let server: TestServer;
  const startTls = (settings: Headers = {}) => {
    const [tlsCert, tlsKey] = ["cert.pem", "key.pem"].map((file) => path.join(folder, file)) as [string, string];
    return startTestServer({ settings: { tlsCert, tlsKey, baseUrl: "https://localhost", ...settings } });
  };
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "gatehouse-hsts-"));
    writeFileSync(path.join(folder, "cert.pem"), certificate);
    writeFileSync(path.join(folder, "key.pem"), certificateKey, { mode: 0o600 });
    server = await startTls();
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  for (const [what, method, target, headers, status] of requests) {
    it(`Strict-Transport-Security is in the response to ${what}, over HTTP/1.1`, async () => {
      const head = await send1(server.url, method, target, headers);
      assert.deepEqual([head.split(" ")[1], headerOf(head)], [String(status), year]);
    });

    it(`Strict-Transport-Security is in the response to ${what}, over HTTP/2`, async () => {
      const received = await send2(server.url, method, target, headers);
      assert.deepEqual([received[":status"], received["strict-transport-security"]], [status, year]);
    });
  }

  it("Strict-Transport-Security is in the responses to gRPC calls of both transports", async () => {
    for (const target of ["chainguard.platform.iam.v2beta1.GroupsService/ListGroups", "grpc.health.v1.Health/Check"]) {
      const headers = { "content-type": "application/grpc", te: "trailers" };
      const received = await send2(server.url, "POST", `/${target}`, headers);
      assert.deepEqual([received[":status"], received["strict-transport-security"]], [200, year]);
    }
  });

  it("Strict-Transport-Security is in the response to a request that cannot be parsed, if the handshake named the host", async () => {
    for (const [servername, wanted] of [
      [name, year],
      ["localhost", undefined],
      [undefined, undefined],
    ] as const)
      assert.equal(headerOf(await head1(server.url, "NO\u0001SENSE\r\n\r\n", servername)), wanted);
    assert.equal(
      headerOf(await head1(server.url, `CONNECT ${name}:443 HTTP/1.1\r\nHost: ${name}\r\n\r\n`, name)),
      year,
    );
  });

  for (const host of ["localhost", "LOCALHOST:8443", "a.b.localhost", "127.0.0.1", "127.9.9.9:8443", "[::1]:8443"])
    it(`Strict-Transport-Security is not sent for ${host}`, async () => {
      assert.equal(headerOf(await send1(server.url, "GET", "/healthz", {}, host)), undefined);
      assert.equal((await send2(server.url, "GET", "/healthz", {}, host))["strict-transport-security"], undefined);
    });

  it("Strict-Transport-Security is not sent with hsts=off", async () => {
    await using other = await startTls({ hsts: "off" });
    assert.equal(headerOf(await send1(other.url, "GET", "/healthz", {})), undefined);
    assert.equal((await send2(other.url, "GET", "/healthz", {}))["strict-transport-security"], undefined);
  });

  describe("over plaintext", () => {
    const forwarded: [headers: Headers, wanted: string | undefined][] = [
      [{}, undefined],
      [{ "x-forwarded-proto": "https" }, year],
      [{ "x-forwarded-proto": "HTTPS, http" }, year],
      [{ "x-forwarded-proto": "http, https" }, undefined],
      [{ "x-forwarded-proto": "http" }, undefined],
      [{ forwarded: "for=192.0.2.1;proto=https;host=gatehouse.example.com" }, year],
      [{ forwarded: 'for=192.0.2.1;proto="https", for=10.0.0.1;proto=http' }, year],
      [{ forwarded: "for=192.0.2.1;proto=http" }, undefined],
      [{ forwarded: "for=192.0.2.1, for=10.0.0.1;proto=https" }, undefined],
    ];
    for (const [trustedProxies, trusts] of [
      ["127.0.0.0/8", true],
      ["", false],
    ] as const)
      it(`Strict-Transport-Security over plaintext is sent ${trusts ? "if a trusted proxy used https" : "to no peer that is not trusted"}`, async () => {
        await using plain = await startTestServer({ settings: { trustedProxies } });
        for (const [headers, wanted] of forwarded) {
          const sent = trusts ? wanted : undefined;
          const text = JSON.stringify(headers);
          assert.equal(headerOf(await send1(plain.url, "GET", "/nowhere", headers)), sent, text);
          assert.equal((await send2(plain.url, "GET", "/nowhere", headers))["strict-transport-security"], sent, text);
        }
      });
  });
});
