// Pages of other origins: what the responses say, by each transport and version of HTTP.
import assert from "node:assert/strict";
import { request as http1Request } from "node:http";
import { connect } from "node:http2";
import { after, before, describe, it } from "node:test";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { PingService } from "../../../gen/chainguard/platform/ping/v2beta1/ping_pb.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";

const allowed = "https://console.example.com";
const versions = ["HTTP/1.1", "HTTP/2"] as const;

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Calls by name, made with an Authorization header. */
const calls: readonly [string, (authorization: string) => Sent][] = [
  ["REST", (authorization) => ({ method: "GET", path: "/iam/v2beta1/groups", headers: { authorization } })],
  ["REST without a token", () => ({ method: "GET", path: "/iam/v2beta1/groups" })],
  ["REST at an unknown path", () => ({ method: "GET", path: "/nowhere" })],
  ["Connect", (authorization) => rpc({ authorization, "content-type": "application/json" }, "{}")],
  ["Connect without a token", () => rpc({ "content-type": "application/json" }, "{}")],
  ["gRPC-web", (authorization) => rpc({ authorization, "content-type": "application/grpc-web+proto" }, "\0\0\0\0\0")],
  [
    "gRPC-web in JSON",
    (authorization) => rpc({ authorization, "content-type": "application/grpc-web+json" }, "\0\0\0\0\x02{}"),
  ],
];

function rpc(headers: Readonly<Record<string, string>>, body: string): Sent {
  return { method: "POST", path: `/${GroupsService.typeName}/ListGroups`, headers, body };
}

interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

describe("pages of other origins", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ settings: { corsOrigins: `${allowed},http://localhost:5173` } });
  });
  after(() => server[Symbol.asyncDispose]());

  function send(version: (typeof versions)[number], sent: Sent): Promise<Received> {
    return version === "HTTP/2" ? overHttp2(server.url, sent) : overHttp1(server.url, sent);
  }

  for (const version of versions) {
    for (const [name, sentWith] of calls) {
      it(`${version}: ${name} lets a named origin read the response, and no other`, async () => {
        const sent = sentWith(`Bearer ${server.ownerToken}`);
        const { headers } = await send(version, withOrigin(sent, allowed));
        assert.equal(headers["access-control-allow-origin"], allowed);
        assert.match(String(headers.vary), /\bOrigin$/);
        assert.match(String(headers["access-control-expose-headers"]), /grpc-status.*x-request-id/);
        assert.equal(headers["access-control-allow-credentials"], undefined);
        for (const other of [
          "https://evil.example",
          "null",
          `${allowed}.evil.example`,
          "https://console.example.com:8443",
        ]) {
          const { headers } = await send(version, withOrigin(sent, other));
          assert.equal(headers["access-control-allow-origin"], undefined);
        }
        assert.equal((await send(version, sent)).headers["access-control-allow-origin"], undefined);
      });
    }

    it(`${version}: a preflight request of a named origin gets a response without a token`, async () => {
      for (const path of ["/iam/v2beta1/groups/none", `/${GroupsService.typeName}/ListGroups`, "/sts/exchange"]) {
        const { status, headers } = await send(version, preflight(path, allowed));
        assert.equal(status, 204);
        assert.equal(headers["access-control-allow-origin"], allowed);
        assert.match(String(headers["access-control-allow-methods"]), /\bPATCH\b/);
        assert.match(String(headers["access-control-allow-headers"]), /^authorization, content-type,.*x-grpc-web/);
        assert.match(String(headers.vary), /^Origin, Access-Control-Request-Method/);
      }
    });

    it(`${version}: a preflight request of another origin is rejected`, async () => {
      const { status, headers } = await send(version, preflight("/iam/v2beta1/groups", "https://evil.example"));
      assert.deepEqual([status, headers["access-control-allow-origin"]], [405, undefined]);
    });

    it(`${version}: OPTIONS that is not a preflight gets a response as without an origin`, async () => {
      const { status } = await send(version, withOrigin({ method: "OPTIONS", path: "/iam/v2beta1/groups" }, allowed));
      assert.equal(status, 405);
    });

    it(`${version}: any origin reads what needs no token`, async () => {
      const paths = ["/.well-known/openid-configuration", "/.well-known/jwks.json", "/openapi/v2beta1.json"];
      for (const path of [...paths, "/ping/v2beta1/ping", "/ping/v2/ping", "/ping/v1/ping"]) {
        const { status, headers } = await send(version, withOrigin({ method: "GET", path }, "https://any.example"));
        assert.deepEqual([path, status, headers["access-control-allow-origin"]], [path, 200, "*"]);
        assert.equal((await send(version, preflight(path, "https://any.example"))).status, 204);
      }
      const ping: Sent = {
        method: "POST",
        path: `/${PingService.typeName}/Ping`,
        headers: { "content-type": "application/json" },
        body: "{}",
      };
      const { status, headers } = await send(version, withOrigin(ping, "https://any.example"));
      assert.deepEqual([status, headers["access-control-allow-origin"]], [200, "*"]);
    });
  }
});

function withOrigin(sent: Sent, origin: string): Sent {
  return { ...sent, headers: { ...sent.headers, origin } };
}

function preflight(path: string, origin: string): Sent {
  const headers = {
    origin,
    "access-control-request-method": "PATCH",
    "access-control-request-headers": "authorization,content-type",
  };
  return { method: "OPTIONS", path, headers };
}

function overHttp1(url: string, { method, path, headers = {}, body }: Sent): Promise<Received> {
  return new Promise((resolve, reject) => {
    const sent = http1Request(url + path, { method, headers, agent: false }, (response) => {
      response.resume().on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers }));
    });
    sent.on("error", reject).end(body);
  });
}

async function overHttp2(url: string, { method, path, headers = {}, body }: Sent): Promise<Received> {
  const session = connect(url);
  try {
    const stream = session.request({ ":method": method, ":path": path, ...headers });
    const received = new Promise<Received>((resolve, reject) => {
      stream.on("error", reject);
      stream.on("response", ({ ":status": status = 0, ...rest }) => {
        stream.resume().on("end", () => resolve({ status, headers: rest as Received["headers"] }));
      });
    });
    stream.end(body);
    return await received;
  } finally {
    session.destroy();
  }
}
