// Limits per client count the client behind a trusted proxy, at every way in, and say when to try again.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { GroupsService } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { SecurityTokenService } from "../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { RetryInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { limits } from "../../src/server/limits.ts";
import { signInLimits } from "../../src/sign-in/limits.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { stoppedClock } from "./ground.ts";

const secret = "canary-notification-secret";
const [careless, careful, sibling] = ["192.0.2.1", "192.0.2.2", "2001:db8::1"];

function notRefused(): never {
  assert.fail("the call was not refused");
}

describe("clients behind a trusted proxy", () => {
  // It stands still, so all bad tokens fall into one second.
  const clock = stoppedClock();
  let server: TestServer;
  before(async () => {
    const settings = { trustedProxies: "127.0.0.0/8", registryNotificationSecret: secret };
    server = await startTestServer({ clock: clock.read, settings });
    await spendAll(careless);
  });
  after(() => server[Symbol.asyncDispose]());

  const bad = (client: string) => ({ authorization: "Bearer bad", "x-forwarded-for": `198.51.100.9, ${client}` });

  const filled = (path: string) =>
    path.replace("AUDIENCE", encodeURIComponent(server.config.baseUrl)).replace("IDENTITY", server.ownerUid);

  async function spendAll(client: string): Promise<void> {
    for (let i = 0; i < limits.badTokensPerSecond; i++) {
      const { status } = await fetch(`${server.url}/iam/v2beta1/groups`, { headers: bad(client) });
      assert.equal(status, 401);
    }
  }

  const plain: [name: string, method: string, path: string, contentType?: string, body?: string][] = [
    ["REST", "GET", "/iam/v2beta1/groups"],
    ["the token exchange", "POST", "/sts/exchange?aud=AUDIENCE&identity=IDENTITY"],
    ["the refresh", "POST", "/sts/exchange_refresh_token?aud=AUDIENCE"],
    [
      "the sign-in of a registry",
      "POST",
      "/token",
      "application/x-www-form-urlencoded",
      "grant_type=refresh_token&refresh_token=bad",
    ],
    ["the notifications of a registry", "POST", "/registry/notifications", "application/json", "{}"],
  ];
  for (const [name, method, path, contentType, body] of plain) {
    it(`D8: ${name}: bad tokens of one client do not delay another; the error has Retry-After`, async () => {
      const ask = (client: string) => {
        const headers = { ...bad(client), ...(contentType && { "content-type": contentType }) };
        return fetch(server.url + filled(path), { method, headers, ...(body !== undefined && { body }) });
      };
      const refused = await ask(careless);
      assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "1"], await refused.text());
      const heard = await ask(careful);
      assert.ok([401, 403].includes(heard.status), `${heard.status}: ${await heard.text()}`);
      assert.equal(heard.headers.get("retry-after"), null);
    });
  }

  it("REST: the error has RetryInfo among its details", async () => {
    const refused = await fetch(`${server.url}/iam/v2beta1/groups`, { headers: bad(careless) });
    const { details } = (await refused.json()) as { details: { "@type": string; retryDelay?: string }[] };
    const type = "type.googleapis.com/google.rpc.RetryInfo";
    assert.equal(details.find((each) => each["@type"] === type)?.retryDelay, "1s");
  });

  const compressed = { sendCompression: compressionGzip, compressMinBytes: 0 };
  const transports: [name: string, make: (baseUrl: string) => Transport][] = [
    ["gRPC", (baseUrl) => createGrpcTransport({ baseUrl })],
    ["gRPC, compressed", (baseUrl) => createGrpcTransport({ baseUrl, ...compressed })],
    ["gRPC-web", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })],
    ["gRPC-web over HTTP/2", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "2" })],
    ["Connect", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" })],
    [
      "Connect with protobuf",
      (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: true }),
    ],
    ["Connect, compressed", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", ...compressed })],
  ];
  for (const [name, make] of transports) {
    it(`D8: ${name}: bad tokens of one client do not delay another; the error has RetryInfo`, async () => {
      const transport = make(server.url);
      type Headers = Record<string, string>;
      const calls: [call: (headers: Headers) => Promise<unknown>, refusal: Code][] = [
        [(headers) => createClient(GroupsService, transport).listGroups({}, { headers }), Code.Unauthenticated],
        [
          (headers) =>
            createClient(SecurityTokenService, transport).exchange(
              { aud: [server.config.baseUrl], identity: server.ownerUid },
              { headers },
            ),
          Code.PermissionDenied,
        ],
      ];
      for (const [call, refusal] of calls) {
        const refused = await call(bad(careless)).then(notRefused, ConnectError.from);
        assert.equal(refused.code, Code.ResourceExhausted);
        assert.equal(refused.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds, 1n);
        if (name.startsWith("Connect")) assert.equal(refused.metadata.get("retry-after"), "1");
        assert.equal((await call(bad(careful)).then(notRefused, ConnectError.from)).code, refusal);
      }
    });
  }

  it("D8: the addresses of one IPv6 network of a host are one client", async () => {
    await spendAll(sibling);
    const statusOf = async (client: string) =>
      (await fetch(`${server.url}/iam/v2beta1/groups`, { headers: bad(client) })).status;
    assert.equal(await statusOf("2001:db8::ffff:1:2:3"), 429);
    assert.equal(await statusOf("2001:db8:0:1::1"), 401);
  });

  it("D8: counts a client that sends a second header", async () => {
    clock.advance(1000);
    const spoofed = (i: number) => ({ ...bad(careless), forwarded: `for=203.0.113.${i}` });
    const statuses: number[] = [];
    for (let i = 0; i <= limits.badTokensPerSecond; i++)
      statuses.push((await fetch(`${server.url}/iam/v2beta1/groups`, { headers: spoofed(i) })).status);
    assert.equal(statuses.at(-1), 429);
    assert.equal((await fetch(`${server.url}/iam/v2beta1/groups`, { headers: bad(careful) })).status, 401);
  });

  it("D8: sign-ins of one client do not delay another; the error page has Retry-After", async () => {
    const begin = (client: string) =>
      fetch(`${server.url}/oauth?exit=redirect&headless_code=${"A".repeat(43)}`, {
        redirect: "manual",
        headers: bad(client),
      });
    let refused = await begin(careless);
    for (let i = 0; i < signInLimits.signInsPerSecond; i++) refused = await begin(careless);
    assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "1"], await refused.text());
    assert.notEqual((await begin(careful)).status, 429);
  });

  it("L5: metrics for loopback only are denied to a request that a proxy forwarded", async () => {
    const status = async (headers: Record<string, string>) =>
      (await fetch(`${server.url}/metrics`, { headers })).status;
    assert.deepEqual(
      [await status({}), await status({ "x-forwarded-for": "127.0.0.1" }), await status({ forwarded: "for=_x" })],
      [200, 403, 403],
    );
  });
});

describe("clients behind a proxy that is not trusted", () => {
  const clock = stoppedClock();
  it("D8: all clients behind an untrusted proxy are one client, with any forwarding headers, and may not read the metrics for loopback", async () => {
    await using server = await startTestServer({ clock: clock.read });
    const statuses: number[] = [];
    for (let i = 0; i <= limits.badTokensPerSecond; i++) {
      const headers = { authorization: "Bearer bad", forwarded: `for=192.0.2.${i}`, "x-forwarded-for": `192.0.2.${i}` };
      statuses.push((await fetch(`${server.url}/iam/v2beta1/groups`, { headers })).status);
    }
    assert.deepEqual([statuses.at(-2), statuses.at(-1)], [401, 429]);
    assert.equal((await fetch(`${server.url}/metrics`, { headers: { via: "1.1 proxy" } })).status, 403);
  });
});
