// Tests of commands share a process: what they see there is what comes of a process for each.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Caller, startCaller } from "./caller.ts";
import { run } from "./process.ts";

let caller: Caller;

describe("a command in a process with others comes to the same as alone:", () => {
  before(async () => {
    caller = await startCaller();
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
  });

  const lines: [what: string, code: number, args: string[], environment?: Record<string, string>][] = [
    ["a list", 0, ["iam", "groups", "list"]],
    ["JSON", 0, ["iam", "roles", "list", "-o", "json"]],
    ["a note on standard error", 0, ["iam", "invites", "list"]],
    ["a text that a library prints", 0, ["iam", "groups", "--help"]],
    ["a refusal", 1, ["iam", "groups", "describe", "nowhere"]],
    ["no server", 1, ["iam", "groups", "list"], { GATEHOUSE_URL: "http://127.0.0.1:1" }],
    ["wrong usage", 2, ["iam", "groups", "list", "--odd"]],
    ["an invalid setting", 2, ["keys", "list"], { GATEHOUSE_SECRETS_KEY: "x" }],
    ["the first again", 0, ["iam", "groups", "list"]],
  ];
  for (const [what, code, args, environment = {}] of lines) {
    it(what, async () => {
      const alone = await run(args, { ...caller.environment, ...environment });
      assert.equal(alone.code, code, alone.stderr);
      assert.deepEqual(await caller.runWith(environment, ...args), alone);
    });
  }
});
