// Tests which calls the client package repeats, when, and how often.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { describe, it } from "node:test";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { type Client, Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { AccessService } from "../../../gen/gatehouse/access/v1/access_pb.ts";
import { ApplyService } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { RetryInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { isIdempotent, openClient, type RetryPolicy, repeatableCall } from "../../../packages/client/src/node.ts";
import { withRetries } from "../../../packages/client/src/retry.ts";
import { delaysOf, takesKey } from "../../../packages/client/src/retrying-calls.ts";
import { openClient as openWebClient } from "../../../packages/client/src/web.ts";
import { freePort } from "../../harness/postgres.ts";
import { type Failure, startFailingServer } from "./failing-server.ts";

const unavailable = new ConnectError("it is away", Code.Unavailable);
const aborted = new ConnectError("a conflict", Code.Aborted);
const tooLarge = new ConnectError("the message is too large", Code.ResourceExhausted);
const denied = new ConnectError("it may not", Code.PermissionDenied);

/** Returns a rate limit that allows the call again after a time. */
function limited(retryMs: number): ConnectError {
  const value = { retryDelay: durationFromMs(retryMs) };
  return new ConnectError("too many calls", Code.ResourceExhausted, undefined, [{ desc: RetryInfoSchema, value }]);
}

const quick: RetryPolicy = { firstDelayMs: 1 };
type Groups = Client<typeof GroupsService>;
const list = (groups: Groups) => groups.listGroups({});
const create = (groups: Groups) => groups.createGroup({});

interface Case {
  readonly rule: string;
  readonly failures: readonly Failure[];
  readonly call: (groups: Groups) => Promise<unknown>;
  readonly retry?: RetryPolicy | false;
  readonly attempts: number;
  /** The code that the call fails with. */
  readonly code?: Code;
}

const cases: readonly Case[] = [
  { rule: "a list is repeated", failures: [unavailable, aborted], call: list, attempts: 3 },
  { rule: "a broken connection is opened again", failures: ["broken connection"], call: list, attempts: 2 },
  { rule: "a rate limit is waited for", failures: [limited(20)], call: list, attempts: 2 },
  {
    rule: "a long wait fails at once",
    failures: [limited(60_000)],
    call: list,
    attempts: 1,
    code: Code.ResourceExhausted,
  },
  {
    rule: "a message that is too large fails",
    failures: [tooLarge],
    call: list,
    attempts: 1,
    code: Code.ResourceExhausted,
  },
  { rule: "a denial fails", failures: [denied], call: list, attempts: 1, code: Code.PermissionDenied },
  { rule: "a create that conflicts fails", failures: [aborted], call: create, attempts: 1, code: Code.Aborted },
  { rule: "a create is repeated with its key", failures: [unavailable], call: create, attempts: 2 },
  {
    rule: "a delete is repeated with its key: without it, the second would be NOT_FOUND",
    failures: [unavailable],
    call: (groups) => groups.deleteGroup({}),
    attempts: 2,
  },
  {
    rule: "a create that the caller marks is repeated",
    failures: [unavailable],
    call: (groups) => groups.createGroup({}, repeatableCall()),
    attempts: 2,
  },
  {
    rule: "retries end",
    failures: Array(9).fill(unavailable),
    call: list,
    retry: { ...quick, retries: 2 },
    attempts: 3,
    code: Code.Unavailable,
  },
  {
    rule: "retries can be off",
    failures: [unavailable],
    call: list,
    retry: false,
    attempts: 1,
    code: Code.Unavailable,
  },
];

for (const protocol of ["grpc", "connect"] as const)
  describe(`a call over ${protocol} that fails`, () => {
    for (const { rule, failures, call, retry = quick, attempts, code } of cases)
      it(rule, async () => {
        await using server = await startFailingServer(failures);
        using client = openClient({ url: server.url, protocol, retry });
        const called = call(client.service(GroupsService));
        if (code === undefined) await called;
        else await assert.rejects(called, (error) => error instanceof ConnectError && error.code === code);
        assert.equal(server.calls.length, attempts);
      });
  });

describe("a write that fails at a server that does not say that it takes idempotency keys", () => {
  const older = { issuer: "https://gatehouse.example.com" };
  for (const protocol of ["grpc", "connect"] as const)
    for (const failure of [unavailable, "broken connection"] as const)
      it(`is not repeated over ${protocol} after ${failure === unavailable ? "UNAVAILABLE" : "a broken connection"}`, async () => {
        await using server = await startFailingServer([failure], [older]);
        using client = openClient({ url: server.url, protocol, retry: quick });
        await assert.rejects(create(client.service(GroupsService)), ConnectError);
        assert.deepEqual([server.calls.length, server.questions], [1, 1]);
      });

  it("a write that its caller marks, and each read, is repeated without asking the server about idempotency keys", async () => {
    await using server = await startFailingServer([unavailable, unavailable], [older]);
    using client = openClient({ url: server.url, retry: quick });
    const groups = client.service(GroupsService);
    await groups.createGroup({}, repeatableCall());
    await list(groups);
    assert.deepEqual([server.calls.length, server.questions], [4, 0]);
  });

  it("a write is repeated at a server that takes idempotency keys; the client asks until it responds, and not again", async () => {
    await using server = await startFailingServer(
      [unavailable],
      [undefined, undefined, { idempotency_keys_supported: true }],
    );
    using client = openClient({ url: server.url, retry: quick });
    await create(client.service(GroupsService));
    assert.deepEqual([server.calls.length, server.questions], [2, 3]);
  });

  it("fails as the call did, if the server does not respond any more", async () => {
    await using server = await startFailingServer([unavailable], [undefined]);
    using client = openClient({ url: server.url, retry: quick });
    await assert.rejects(create(client.service(GroupsService)), /it is away/);
    assert.equal(server.calls.length, 1);
  });
});

describe("a call that is repeated", () => {
  it("waits as long as the server asks for", async () => {
    const failures = [limited(300)];
    const delaysMs: number[] = [];
    await withRetries(
      async () => {
        for (const failure of failures.splice(0)) throw failure;
      },
      { delayMs: delaysOf(quick), onDelay: (_, delayMs) => delaysMs.push(delayMs) },
    );
    assert.equal(delaysMs.length, 1);
    assert.ok(delaysMs[0]! >= 300, `${delaysMs[0]} ms`);
  });

  it("ends with the time limit of the call", async () => {
    await using server = await startFailingServer(Array(9).fill(unavailable));
    using client = openClient({ url: server.url, retry: { firstDelayMs: 5000 } });
    const called = client.service(GroupsService).listGroups({}, { timeoutMs: 100 });
    await assert.rejects(called, (error) => error instanceof ConnectError && error.code === Code.DeadlineExceeded);
    assert.ok(server.calls.length < 9);
  });

  it("is repeated with fetch when nothing listens yet", async (t) => {
    const port = await freePort();
    const routes = (router: ConnectRouter) => router.service(GroupsService, { listGroups: () => ({}) });
    const listening = createServer(connectNodeAdapter({ routes }));
    t.after(() => listening.close());
    let attempts = 0;
    const original = globalThis.fetch;
    t.mock.method(globalThis, "fetch", async (...request: Parameters<typeof fetch>) => {
      if (++attempts === 2) await once(listening.listen(port, "127.0.0.1"), "listening");
      return await original(...request);
    });
    using client = openWebClient({ url: `http://127.0.0.1:${port}`, retry: quick });
    await list(client.service(GroupsService));
    assert.ok(attempts >= 2, `${attempts} attempts`);
  });
});

describe("the methods that may be repeated", () => {
  it("are those that read by GET", () => {
    const { listGroups, getGroup, createGroup, updateGroup, deleteGroup } = GroupsService.method;
    assert.deepEqual([listGroups, getGroup, createGroup, updateGroup, deleteGroup].map(isIdempotent), [
      true,
      true,
      false,
      false,
      false,
    ]);
    assert.equal(isIdempotent(AccessService.method.listCapabilities), true);
  });

  it("are those that write with an idempotency key, which those that converge by themselves do not take", () => {
    const { listGroups, createGroup, deleteGroup } = GroupsService.method;
    assert.deepEqual([listGroups, createGroup, deleteGroup].map(takesKey), [false, true, true]);
    assert.equal(takesKey(ApplyService.method.applyResources), false);
    assert.equal(takesKey(AccessService.method.simulateChange), false);
  });
});
