// Every reply names its log line, also when no method was reached.
import assert from "node:assert/strict";
import { request as requestHttp1 } from "node:http";
import { connect } from "node:http2";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { keptLog } from "../../harness/kept-log.ts";
import { startTestServer } from "../../harness/server.ts";

describe("the log line of a rejected request", () => {
  const cases: [what: string, path: string, init: RequestInit, code: string][] = [
    ["an unknown parameter", "/iam/v2beta1/groups?pagesize=canary", {}, "INVALID_ARGUMENT"],
    ["an unknown path", "/nowhere?canary=1", {}, "NOT_FOUND"],
    ["malformed JSON", "/iam/v2beta1/groups", { method: "POST", body: "{canary" }, "INVALID_ARGUMENT"],
    [
      "a body of another type",
      "/iam/v2beta1/groups",
      { method: "POST", body: "canary", headers: { "content-type": "text/plain" } },
      "INVALID_ARGUMENT",
    ],
    ["a bad escape", "/iam/v2beta1/groups/%zz", {}, "INVALID_ARGUMENT"],
    ["a refusal of the pipeline", "/iam/v2beta1/groups/x", {}, "INVALID_ARGUMENT"],
    ["a success", "/iam/v2beta1/groups", {}, "OK"],
  ];
  for (const [what, path, init, code] of cases) {
    it(`one line is logged: ${what}`, async () => {
      const log = keptLog();
      await using server = await startTestServer({ log: log.stream });
      const headers = {
        authorization: `Bearer ${server.ownerToken}`,
        "content-type": "application/json",
        ...init.headers,
      };
      const reply = await fetch(server.url + path, { ...init, headers });
      await reply.arrayBuffer();
      const requestId = reply.headers.get("x-request-id") ?? "";
      const lines = log.lines().filter((line) => line.includes(requestId));
      assert.deepEqual(
        lines.map((line) => JSON.parse(line).code),
        [code],
      );
      log.assertNone("canary");
    });
  }

  it("the log line of a request without a method has its path, shortened if it is long", async () => {
    const log = keptLog();
    await using server = await startTestServer({ log: log.stream });
    await (await fetch(`${server.url}/${"x".repeat(1000)}`)).arrayBuffer();
    const { path, httpMethod } = JSON.parse(log.lines().find((line) => line.includes('"refused"')) ?? "{}");
    assert.deepEqual([path, httpMethod], [`/${"x".repeat(199)}…`, "GET"]);
  });
});

describe("the log lines of a client that disconnects while its body arrives", () => {
  const rest = "/iam/v2beta1/groups";
  const rpc = "/chainguard.platform.iam.v2beta1.GroupsService/CreateGroup";
  const cases: [what: string, version: 1 | 2, path: string, type: string, lines: string[]][] = [
    ["REST over HTTP/1", 1, rest, "application/json", ["refused CANCELLED"]],
    ["REST over HTTP/2", 2, rest, "application/json", ["refused CANCELLED"]],
    // The RPC transports log calls, and no call starts before its message is complete.
    ["gRPC-web over HTTP/1", 1, rpc, "application/grpc-web", []],
    ["Connect over HTTP/1", 1, rpc, "application/proto", []],
    ["gRPC over HTTP/2", 2, rpc, "application/grpc", []],
  ];
  for (const [what, version, path, type, expected] of cases) {
    it(`at most one line is logged: ${what}`, async () => {
      const log = keptLog();
      await using server = await startTestServer({ log: log.stream });
      const headers = { authorization: `Bearer ${server.ownerToken}`, "content-type": type, "user-agent": "leaver" };
      await (version === 1 ? leaveHttp1 : leaveHttp2)(server.url, path, headers);
      const lines = log.lines().filter((line) => line.includes('"leaver"'));
      assert.deepEqual(
        lines.map((line) => JSON.parse(line)).map(({ msg, code }) => `${msg} ${code}`),
        expected,
      );
    });
  }
});

type Headers = Readonly<Record<string, string>>;

/** Longer than the server needs to notice the client, and that it left. */
const noticeMs = 150;

async function leaveHttp1(url: string, path: string, headers: Headers): Promise<void> {
  const request = requestHttp1(url + path, { method: "POST", headers: { ...headers, "content-length": "1000" } });
  request.on("error", () => {});
  request.write("{");
  await sleep(noticeMs);
  request.destroy();
  await sleep(noticeMs);
}

async function leaveHttp2(url: string, path: string, headers: Headers): Promise<void> {
  const session = connect(url);
  const stream = session.request({ ":method": "POST", ":path": path, te: "trailers", ...headers });
  stream.on("error", () => {});
  stream.write("{");
  await sleep(noticeMs);
  session.destroy();
  await sleep(noticeMs);
}
