// D: messages that cost more to open than to send, and the budget of bad tokens.
import assert from "node:assert/strict";
import { connect } from "node:http2";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { newFailureLimiter } from "../../src/authn/failure-limiter.ts";
import { limits } from "../../src/server/limits.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { codeOf, type Ground, openGround, stoppedClock } from "./ground.ts";

const grpcPath = "/chainguard.platform.iam.v2beta1.GroupsService/ListGroups";

describe("compressed messages", () => {
  let ground: Ground;
  before(async () => {
    ground = await openGround();
  });
  after(() => ground[Symbol.asyncDispose]());

  const bomb = gzipSync(Buffer.alloc(256 * 1024 * 1024));
  const frame = (flags: number, length: number, body: Buffer) => {
    const head = Buffer.alloc(5);
    head.writeUInt8(flags, 0);
    head.writeUInt32BE(length, 1);
    return Buffer.concat([head, body]);
  };
  const envelope = (flags: number, body: Buffer) => frame(flags, body.length, body);
  const grpc = { "content-type": "application/grpc", te: "trailers" };
  const grpcWeb = { "content-type": "application/grpc-web+proto" };
  const unary = { "content-type": "application/proto", "connect-protocol-version": "1" };
  const garbage = Buffer.from("this is not gzip");
  const gzip = { "grpc-encoding": "gzip" };

  const cases: readonly [string, Record<string, string>, Buffer][] = [
    ["a gRPC message that is not gzip", { ...grpc, ...gzip }, frame(1, garbage.length, garbage)],
    ["a gRPC message of a declared 4 GiB", grpc, frame(0, 0xffffffff, Buffer.alloc(100))],
    ["a gRPC message that opens to 256 MiB", { ...grpc, ...gzip }, frame(1, bomb.length, bomb)],
    ["a gRPC message cut short", grpc, frame(0, 100, Buffer.alloc(10))],
    ["a gRPC message that is not protobuf", grpc, frame(0, 4, Buffer.from([0xff, 0xff, 0xff, 0xff]))],
    ["a gRPC-web message that opens to 256 MiB", { ...grpcWeb, ...gzip }, frame(1, bomb.length, bomb)],
    ["a gRPC-web message of a declared 4 GiB", grpcWeb, frame(0, 0xffffffff, Buffer.alloc(100))],
    ["a Connect message that opens to 256 MiB", { ...unary, "content-encoding": "gzip" }, bomb],
    ["a Connect message that is not gzip", { ...unary, "content-encoding": "gzip" }, garbage],
    ["a Connect message whose gzip ends early", { ...unary, "content-encoding": "gzip" }, bomb.subarray(0, 20)],
    ["a Connect message that is not brotli", { ...unary, "content-encoding": "br" }, garbage.subarray(0, 3)],
    ["a Connect message that unpacks to no protobuf", { ...unary, "content-encoding": "gzip" }, gzipSync(garbage)],
    ["a gRPC message that unpacks to no protobuf", { ...grpc, ...gzip }, envelope(1, gzipSync(garbage))],
    ["a gRPC-web message that unpacks to no protobuf", { ...grpcWeb, ...gzip }, envelope(1, gzipSync(garbage))],
  ];
  for (const [rule, headers, body] of cases) {
    it(`D5: ${rule} is INVALID_ARGUMENT or RESOURCE_EXHAUSTED, and the server lives within its memory`, async () => {
      const before = process.memoryUsage().rss;
      const answer = await send(headers, body);
      assert.match(answer, /^(INVALID_ARGUMENT|RESOURCE_EXHAUSTED)$/);
      assert.ok(process.memoryUsage().rss - before < 128 * 1024 * 1024, "the message was opened");
      assert.equal(codeOf(await ground.once(ground.server.ownerToken, "GroupsService/ListGroups", {})), "OK");
    });
  }

  const many = limits.bodyBytes / 3;
  const deep = Buffer.from(`{"x":${"[".repeat(100)}${"]".repeat(100)}}`);
  const wide = Buffer.from(`{"x":[${"0,".repeat(many)}0]}`);
  const double = Buffer.from('{"name":"a","name":"b"}');
  const latin = Buffer.from('{"name":"\u00e4"}', "latin1");
  // Unknown fields, of which each takes three bytes.
  const values = Buffer.alloc(3 * many - 3, Buffer.from([0x98, 0x06, 0x01]));
  const json = { "content-type": "application/json; charset=utf-8" };
  const expectant = { expect: "100-continue" };
  const undecoded: readonly [string, Record<string, string>, Buffer][] = [
    ["Connect, JSON that is nested too deep", json, deep],
    ["Connect, JSON of too many values", json, wide],
    ["Connect, JSON with a member twice", json, double],
    ["Connect, JSON that is not UTF-8", json, latin],
    ["gRPC, JSON that is nested too deep", { ...grpc, "content-type": "application/grpc+json" }, envelope(0, deep)],
    ["gRPC-web, JSON of too many values", { "content-type": "application/grpc-web+json" }, envelope(0, wide)],
    ["Connect, protobuf of too many values", { ...unary, ...expectant }, values],
    ["gRPC, protobuf of too many values", { ...grpc, ...expectant }, envelope(0, values)],
    ["gRPC-web, protobuf of too many values", { ...grpcWeb, ...expectant }, envelope(0, values)],
  ];
  for (const [rule, headers, body] of undecoded) {
    it(`F4, D5: ${rule}: is INVALID_ARGUMENT, also where the head of the request is an unusual one`, async () => {
      assert.equal(await send(headers, body), "INVALID_ARGUMENT");
    });
  }

  it("D5: health and reflection, which need no token, reject long messages", async () => {
    for (const headers of [unary, { "content-type": "application/json" }]) {
      const path = "/grpc.health.v1.Health/Check";
      assert.equal(await send(headers, Buffer.alloc(65_537, " "), path), "RESOURCE_EXHAUSTED");
    }
  });

  /** Returns the code of the reply to these bytes, whichever protocol they are in. */
  function send(headers: Record<string, string>, body: Buffer, path = grpcPath): Promise<string> {
    const session = connect(ground.server.url);
    const authorization = `Bearer ${ground.server.ownerToken}`;
    const stream = session.request({ ":method": "POST", ":path": path, authorization, ...headers });
    stream.on("error", () => {}).end(body);
    return new Promise((resolve, reject) => {
      let grpcStatus: unknown;
      let received = "";
      const note = (seen: Record<string, unknown>) => {
        grpcStatus = seen["grpc-status"] ?? grpcStatus;
      };
      session.on("error", reject);
      stream.on("response", note).on("trailers", note);
      stream.setEncoding("latin1").on("data", (chunk: string) => {
        received += chunk;
      });
      stream.on("close", () => {
        session.destroy();
        const status = grpcStatus ?? /grpc-status: ?(\d+)/.exec(received)?.[1];
        resolve(
          status === undefined
            ? String(JSON.parse(received).code).toUpperCase()
            : (codes[String(status)] ?? `${status}`),
        );
      });
    });
  }
});

const codes: Readonly<Record<string, string>> = { 3: "INVALID_ARGUMENT", 8: "RESOURCE_EXHAUSTED" };

describe("the limit of rejected tokens", () => {
  const open = (perSecond: number, sources = 10) => {
    const clock = { now: 1_000_000 };
    return { clock, budget: newFailureLimiter({ perSecond, sources }, () => clock.now) };
  };
  const spend = ({ budget }: ReturnType<typeof open>, source: string, times: number) => {
    for (let i = 0; i < times; i++) budget.spend(source);
  };

  it("D8: is exhausted after so many failures of one address, for that address only", () => {
    const opened = open(3);
    spend(opened, "192.0.2.1", 2);
    assert.equal(opened.budget.isSpent("192.0.2.1"), false);
    spend(opened, "192.0.2.1", 1);
    assert.deepEqual(["192.0.2.1", "192.0.2.2"].map(opened.budget.isSpent), [true, false]);
  });

  it("D8: is full again in the next second", () => {
    const opened = open(3);
    spend(opened, "192.0.2.1", 5);
    opened.clock.now += 1000;
    assert.equal(opened.budget.isSpent("192.0.2.1"), false);
    spend(opened, "192.0.2.1", 3);
    assert.equal(opened.budget.isSpent("192.0.2.1"), true);
  });

  it("D8: stores a limited number of addresses", () => {
    const opened = open(1, 2);
    for (const source of ["a", "b", "c"]) spend(opened, source, 1);
    assert.deepEqual(["a", "b", "c"].map(opened.budget.isSpent), [false, true, true]);
  });

  it("D8: allows the mistakes of a person", () => {
    assert.ok(limits.badTokensPerSecond >= 10 && limits.badTokensPerSecond <= 1000);
  });
});

describe("the limit of rejected tokens over the wire", () => {
  const clock = stoppedClock();
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ clock: clock.read });
  });
  after(() => server[Symbol.asyncDispose]());

  const segment = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const bad = () => `${segment({ alg: "ES256" })}.${segment({ iss: "https://issuer.example", sub: "s" })}.AAAA`;
  const bearer = () => ({ authorization: `Bearer ${bad()}` });
  const exchange = () => `/sts/exchange?aud=${encodeURIComponent(server.config.baseUrl)}`;
  const apiClients: Readonly<Record<string, () => Promise<Response>>> = {
    "the exchange": () => fetch(server.url + exchange(), { headers: bearer() }),
    "the refresh": () => fetch(`${server.url}/sts/exchange_refresh_token`, { method: "POST", headers: bearer() }),
    "the registration of people": () =>
      fetch(`${server.url}/auth/v1/register`, {
        method: "POST",
        body: "{}",
        headers: { ...bearer(), "content-type": "application/json" },
      }),
    "the sign-in of a registry": () =>
      fetch(`${server.url}/token`, {
        headers: { authorization: `Basic ${Buffer.from(`_token:${bad()}`).toString("base64")}` },
      }),
  };
  for (const [apiClient, send] of Object.entries(apiClients)) {
    it(`D8: counts failures of ${apiClient}, and limits them`, async () => {
      clock.advance(1000);
      const known = () => rest(server.url, server.ownerToken, "GET", exchange());
      assert.equal((await known()).status, 200);
      for (let i = 0; i < limits.badTokensPerSecond; i++) {
        const { status } = await send();
        assert.ok(status === 401 || status === 403, `${status}`);
      }
      assert.equal((await send()).status, 429);
      assert.equal((await fetch(server.url + exchange(), { headers: bearer() })).status, 429);
      assert.equal((await known()).status, 200);
    });
  }
});
