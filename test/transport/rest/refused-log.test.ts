// Every reply names its log line, also when no method was reached.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
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
    it(`is one: ${what}`, async () => {
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

  it("has the path of what came to no method, cut off where it is long", async () => {
    const log = keptLog();
    await using server = await startTestServer({ log: log.stream });
    await (await fetch(`${server.url}/${"x".repeat(1000)}`)).arrayBuffer();
    const { path, httpMethod } = JSON.parse(log.lines().find((line) => line.includes('"refused"')) ?? "{}");
    assert.deepEqual([path, httpMethod], [`/${"x".repeat(199)}…`, "GET"]);
  });
});
