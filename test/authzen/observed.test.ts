// What a server keeps of the questions of AuthZEN: its log, metrics and audit log have them like other calls.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { keptLog } from "../harness/kept-log.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer } from "../harness/server.ts";
import { untilTrue } from "../harness/until.ts";
import { addCaller, addRole } from "../security/tree.ts";
import { ask, question } from "./ask.ts";

after(stopPostgres);

describe("records of AuthZEN", () => {
  it("a question is logged and counted by its endpoint and by the method that answers, without what was asked", async () => {
    const log = keptLog();
    await using server = await startTestServer({ log: log.stream, settings: { metrics: "anyone" } });
    const body = question(server.ownerUid, "groups.list", server.groupUid);
    const { headers } = await ask(
      server,
      server.ownerToken,
      "evaluation",
      { ...body, context: { secret: "canary" } },
      { "x-request-id": "of the client" },
    );
    assert.equal(headers.get("x-request-id"), "of the client");
    await untilTrue(async () => log.text().includes('"method":"/access/v1/evaluation"'));
    const lines = log.lines().map((line) => JSON.parse(line));
    const calls = lines.filter(({ msg, caller }) => msg === "call" && caller === server.ownerUid);
    assert.deepEqual(
      calls.map(({ method, code }) => [method, code]),
      [
        ["/gatehouse.access.v1.AccessService/BatchExplainAccess", "OK"],
        ["/access/v1/evaluation", "OK"],
      ],
    );
    assert.equal(new Set(calls.map(({ requestId }) => requestId)).size, 1);
    log.assertNone("canary", "of the client");
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    for (const { method } of calls) assert.ok(metrics.includes(method), method);
  });

  it("a question that is denied is in the audit log, once", async () => {
    await using server = await startTestServer();
    const role = await addRole(server, server.groupUid, [Capability.CAP_REPO_LIST]);
    const puller = await addCaller(server, server.groupUid, role);
    const body = question(server.ownerUid, "groups.list", server.groupUid);
    assert.equal((await ask(server, puller.token, "evaluation", body)).status, 403);
    const list = () =>
      rest(
        server.url,
        server.ownerToken,
        "GET",
        `/gatehouse/changes/v1/changes?parent=${server.groupUid}&kind=denials`,
      );
    await untilTrue(async () => (await list()).body.changes?.length > 0);
    const denials = (await list()).body;
    assert.deepEqual(
      denials.changes.map(({ method, actorUid }: { method: string; actorUid: string }) => [method, actorUid]),
      [["/access/v1/evaluation", puller.uid]],
    );
  });
});
