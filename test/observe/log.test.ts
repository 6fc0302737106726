// Tests of a call's log line in either format, and of who may set its names.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { newLog } from "../../src/observe/log.ts";
import { keptLog } from "../harness/kept-log.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";

/** An empty request, by content type. */
const bodies: Readonly<Record<string, string>> = {
  "application/json": "{}",
  "application/grpc-web+proto": "\0\0\0\0\0",
  "application/grpc-web+json": "\0\0\0\0\x02{}",
};

type Line = Record<string, unknown>;

describe("the log line of a call", () => {
  const log = keptLog();
  let direct: TestServer;
  let proxied: TestServer;
  before(async () => {
    direct = await startTestServer({ log: log.stream });
    proxied = await startTestServer({ log: log.stream, settings: { trustedProxies: "127.0.0.0/8" } });
  });
  after(async () => {
    await direct[Symbol.asyncDispose]();
    await proxied[Symbol.asyncDispose]();
  });

  async function lineOf(server: TestServer, headers: Record<string, string>, type?: string): Promise<[Line, string]> {
    const path = type ? "/chainguard.platform.iam.v2beta1.GroupsService/ListGroups" : "/iam/v2beta1/groups";
    const all = { authorization: `Bearer ${server.ownerToken}`, ...headers, ...(type && { "content-type": type }) };
    const body = bodies[type ?? ""] ?? "";
    const reply = await fetch(server.url + path, { headers: all, ...(type && { method: "POST", body }) });
    await reply.arrayBuffer();
    const requestId = reply.headers.get("x-request-id") ?? "";
    const line = log.lines().findLast((each) => each.includes(`"requestId":"${requestId}"`));
    return [JSON.parse(line ?? "{}"), requestId];
  }

  const transports: [string, string | undefined][] = [
    ["REST", undefined],
    ["Connect", "application/json"],
    ["gRPC-web", "application/grpc-web+proto"],
    ["gRPC-web in JSON", "application/grpc-web+json"],
  ];
  for (const [transport, type] of transports) {
    it(`${transport}: has the level, the time, the client, its program and the trace`, async () => {
      const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
      const [line] = await lineOf(direct, { "user-agent": "curl/8", traceparent }, type);
      assert.deepEqual(
        [line.level, line.client, line.userAgent, line.traceId],
        ["info", "127.0.0.1", "curl/8", traceId],
      );
      assert.match(String(line.time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    });

    it(`${transport}: has the client that a trusted proxy names, and the id that it sends`, async () => {
      const headers = { "x-forwarded-for": "203.0.113.9", "x-request-id": `proxy:${transport.length}.a-b_c` };
      const [line, requestId] = await lineOf(proxied, headers, type);
      assert.deepEqual([line.client, requestId], ["203.0.113.9", headers["x-request-id"]]);
      const [own, ownId] = await lineOf(direct, headers, type);
      assert.equal(own.client, "127.0.0.1");
      assert.match(ownId, /^[0-9a-f]{32}$/);
    });
  }

  for (const id of ["", "a b", "é", 'a"b', "x".repeat(129), "a,b"]) {
    it(`the log line of a call has a new request id if that of the proxy is ${JSON.stringify(id.slice(0, 10))}`, async () => {
      const [, requestId] = await lineOf(proxied, { "x-request-id": Buffer.from(id).toString("latin1") });
      assert.match(requestId, /^[0-9a-f]{32}$/);
    });
  }

  it("a client's user agent cannot control a terminal", async () => {
    const [line] = await lineOf(direct, { "user-agent": "a\x9b31mb" });
    assert.equal(line.userAgent, "a\\u{9b}31mb");
  });
});

describe("a log line as text", () => {
  const textOf = (write: (log: ReturnType<typeof newLog>) => void): string => {
    const log = keptLog();
    write(newLog({ level: "info", format: "text" }, log.stream));
    return log.text();
  };

  it("a log entry as text is one line: time, level, message, and the other members by name", () => {
    const text = textOf((log) => log.info({ code: "OK", durationMs: 1.5, caller: undefined, error: "a b" }, "call"));
    assert.match(text, /^\d\d:\d\d:\d\d\.\d{3}Z INFO {2}call code=OK durationMs=1\.5 error="a b"\n$/);
  });

  it("a log entry as text has an error with its stack on the same line", () => {
    const text = textOf((log) => log.error({ err: new Error("no\nluck") }, "call failed"));
    assert.match(
      text,
      /ERROR call failed err=\{"type":"Error","message":"no\\nluck","stack":"Error: no\\nluck\\n.*\}\n$/,
    );
    assert.equal(text.split("\n").length, 2);
  });

  it("control characters in values are escaped", () => {
    const text = textOf((log) => log.warn({ userAgent: "\u202eevil\u009b2J", path: "/a\u001b[2J" }, "seen\u0007"));
    assert.match(text, /WARN {2}seen\\u\{7\} userAgent=\\u\{202e\}evil\\u\{9b\}2J path=/);
    assert.doesNotMatch(text.slice(0, -1), /[\p{Cc}\u202e]/u);
  });
});
