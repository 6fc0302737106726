// Access requests on the command line: the way from a denial to a role.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { durationText } from "../../src/cli/resources/columns.ts";
import { rest } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { addPerson, bind, ownerRole, viewerRole } from "../security/tree.ts";
import { type Caller, startCaller } from "./caller.ts";

let caller: Caller;
/** A viewer, who may request, and an owner, who may approve. */
let requester: string;
let approver: string;

const as = async (uid: string, ...args: string[]) =>
  await caller.runWith({ GATEHOUSE_TOKEN: await caller.server.tokenOf(uid) }, ...args);
const requests = (uid: string, ...args: string[]) => as(uid, "iam", "access-requests", ...args);
const create = (...args: string[]) =>
  requests(requester, "create", "editor", "--group", "example.org", "--reason", "INC-1", ...args);

/** Calls the API as the approver: commands run one after another, and one of them waits. */
async function call(method: string, path: string, body?: object) {
  const { server } = caller;
  const reply = await rest(server.url, await server.tokenOf(approver), method, `/access/v1/requests${path}`, body);
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  return reply.body;
}

/** Returns the uid of the only request that waits for the approver; undefined if there is none. */
async function waiting(): Promise<string | undefined> {
  const { toDecide = [], toAcknowledge = [] } = await call("GET", ":mine");
  assert.ok(toDecide.length + toAcknowledge.length <= 1);
  return [...toDecide, ...toAcknowledge][0]?.uid;
}

describe("gatehouse iam access-requests", () => {
  before(async () => {
    caller = await startCaller();
    const { server } = caller;
    requester = await addPerson(server, "requester", "requester@example.org", server.groupUid);
    approver = await addPerson(server, "approver", "approver@example.org", server.groupUid);
    await bind(server, server.groupUid, requester, viewerRole.uid);
    await bind(server, server.groupUid, approver, ownerRole.uid);
    await caller.json(
      "iam",
      "access-request-rules",
      "create",
      "on-call",
      "--parent",
      "example.org",
      "--roles",
      "editor",
      "--eligible-roles",
      "viewer",
      "--max-duration",
      "90m",
      "--decision-time",
      "2h",
      "--break-glass",
    );
  });
  after(() => caller[Symbol.asyncDispose]());

  it("a denial names the command that requests what is missing, and an allowed question or one about others does not", async () => {
    const canI = (...args: string[]) => as(requester, "auth", "can-i", ...args, "--group", "example.org");
    const denied = await canI("repo.create");
    assert.equal(denied.code, 1);
    const command = `gatehouse iam access-requests create editor --group ${caller.server.groupUid} --reason TEXT`;
    assert.ok(denied.stderr.includes(`You can request it: \`${command}\``), denied.stderr);
    // Editors cannot do this either.
    assert.doesNotMatch((await canI("groups.delete")).stderr, /request it/);
    assert.doesNotMatch(
      (await caller.run("auth", "can-i", "repo.create", "--group", "example.org", "--as", requester)).stderr,
      /request it/,
    );
  });

  it("a request says who has to do what, and durations are those of flags", async () => {
    const { code, stdout, stderr } = await create("--for", "90m");
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^UID +WHO +ROLE +AT +FOR +STATE +REASON +ENDS\n\S+ +requester +editor +example\.org +90m +pending +INC-1/,
    );
    const uid = (await waiting())!;
    const page = `${caller.server.url}/console/o/${caller.server.groupUid}/requests/${uid}`;
    assert.ok(stderr.includes(`It needs 1 approval before `) && stderr.includes(page), stderr);
    const status = await as(approver, "auth", "status");
    assert.match(
      status.stderr,
      /^1 access request waits for you: `gatehouse iam access-requests list --to-decide`\.$/m,
    );
    assert.doesNotMatch((await as(requester, "auth", "status")).stderr, /wait/);
    await requests(requester, "cancel", uid);
  });

  it("--wait ends with the decision: 0 with the active request, and 1 with the comment of a denial", async () => {
    const approved = create("--wait", "-o", "json");
    const first = await until("the request", waiting);
    await call("POST", `/${first}:approve`, {});
    const { code, stdout } = await approved;
    assert.deepEqual([code, JSON.parse(stdout).state], [0, "ACCESS_REQUEST_STATE_ACTIVE"]);
    await requests(requester, "end", first);
    const denied = create("--wait");
    const second = await until("the request", waiting);
    await call("POST", `/${second}:deny`, { comment: "not today" });
    const failed = await denied;
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /the request is denied: not today/);
  });

  it("a role by break-glass is there at once, and waits to be acknowledged", async () => {
    const { stdout, stderr } = await create("--break-glass");
    assert.match(stdout, / active \(break-glass, not acknowledged\) /);
    assert.match(stderr, /^Another person must acknowledge this: http/m);
    const uid = (await waiting())!;
    assert.match((await requests(approver, "acknowledge", uid)).stdout, / active \(break-glass\) /);
    assert.equal(await waiting(), undefined);
  });

  it("rules show their durations", async () => {
    const { stdout } = await caller.run("iam", "access-request-rules", "describe", "on-call");
    assert.match(stdout, /^For at most: +90m$/m);
    assert.match(stdout, /^Decision time: +2h$/m);
    assert.match(stdout, /^Break glass: +yes$/m);
    assert.doesNotMatch(stdout, /\d{4}s/);
  });
});

describe("a duration", () => {
  for (const [json, text] of [
    ["14400s", "4h"],
    ["5400s", "90m"],
    ["86400s", "1d"],
    ["90s", "90s"],
    ["0s", "0s"],
    ["0.5s", "0.5s"],
    [undefined, ""],
  ] as const)
    it(`of ${json} is shown as ${JSON.stringify(text)}`, () => assert.equal(durationText(json), text));
});
