// `gatehouse iam access`: who may do what, and where.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { until } from "../harness/until.ts";
import { type Caller, startCaller } from "./caller.ts";

describe("gatehouse iam access", () => {
  let caller: Caller;
  before(async () => {
    caller = await startCaller();
    await caller.json("iam", "folders", "create", "team", "--parent", "example.org");
    await caller.json(
      "iam",
      "identities",
      "create",
      "ci",
      "--parent",
      "example.org/team",
      "--role",
      "viewer",
      "--identity-issuer",
      "https://issuer.example.org",
      "--subject",
      "ci",
    );
  });
  after(() => caller[Symbol.asyncDispose]());

  const access = async (...args: string[]) => {
    const { code, stdout, stderr } = await caller.run("iam", "access", ...args);
    assert.equal(code, 0, stderr);
    return { stdout, stderr };
  };

  it("who-can lists identities with their roles, and where these are bound", async () => {
    const { stdout } = await access("who-can", "example.org/team");
    assert.match(stdout, /^IDENTITY +ROLES +CAPABILITIES\n/);
    assert.match(stdout, /^ci +viewer at team +\d+$/m);
    assert.match(stdout, /^owner +.*owner at example\.org/m);
  });

  it("who-can filters by capability and identity", async () => {
    assert.doesNotMatch((await access("who-can", "example.org/team", "--capability", "groups.delete")).stdout, /^ci /m);
    const { stdout } = await access("who-can", "example.org/team", "--identity", "ci", "--no-headers");
    assert.match(stdout, /^ci +viewer at team +\d+\n$/);
  });

  it("who-can says how many more there are", async () => {
    const { stdout, stderr } = await access("who-can", "example.org/team", "--limit", "1", "--no-headers");
    assert.equal(stdout.trimEnd().split("\n").length, 1);
    assert.match(stderr, /^2 in all; show more with --limit\.$/m);
  });

  it("what-can lists roles and where they take effect, of an identity and of the caller", async () => {
    assert.match((await access("what-can", "ci", "--no-headers")).stdout, /^viewer +team +team +\d+\n$/);
    assert.match((await access("what-can")).stdout, /^owner +example\.org +example\.org +\d+$/m);
  });

  it("unused lists role bindings without a use, with advice and since when uses are recorded", async () => {
    const { stdout, stderr } = await access("unused", "--group", "example.org/team");
    assert.match(stdout, /^IDENTITY +ROLE +BOUND AT +LAST USED +USED +ADVICE +BINDING\n/);
    assert.match(stdout, /^ci +viewer +team +never +0\/\d+ +too early +\S+$/m);
    assert.match(
      stderr,
      /^Recorded since \d{4}-\d\d-\d\d\. Work that runs less often than every 90 days is not seen\.$/m,
    );
  });

  it("unused with --show-used also lists role bindings in use, with their capabilities", async () => {
    const asked = ["unused", "--group", "example.org", "--days", "30", "--show-used", "-o", "wide"];
    await until("the use of the owner", async () => {
      const { stdout } = await access(...asked);
      return /^owner +owner +example\.org +\d{4}-\d\d-\d\d .*role_bindings\.list \(/m.test(stdout) || undefined;
    });
    const { stdout } = await access("unused", "--group", "example.org", "-o", "name");
    assert.equal(stdout.trimEnd().split("\n").length, 1);
  });

  it("unused rejects a number of days out of bounds", async () => {
    const { code, stderr } = await caller.run("iam", "access", "unused", "--group", "example.org", "--days", "3");
    assert.equal(code, 1);
    assert.match(stderr, /unused_days: must be from 7 to 400/);
  });

  it("simulate says who gains, loses and keeps what, and fails if the change would be rejected", async () => {
    const gains = await access(
      "simulate",
      "create-binding",
      "--identity",
      "ci",
      "--role",
      "editor",
      "--parent",
      "example.org/team",
    );
    assert.match(
      gains.stdout,
      /^EFFECT +IDENTITY +GROUP +BELOW +CAPABILITIES\ngains +ci +team +0 +subscriptions\.create /,
    );
    const binding = (await caller.run("iam", "role-bindings", "list", "--identity", "ci", "-o", "id")).stdout.trim();
    const loses = await access("simulate", "delete-binding", binding, "--no-headers");
    assert.match(loses.stdout, /^loses +ci +team +0 +groups\.list .* \(\+\d+\)\n$/);
    const { code, stderr } = await caller.run(
      "iam",
      "access",
      "simulate",
      "create-binding",
      "--identity",
      "ci",
      "--role",
      "viewer",
      "--parent",
      "example.org/team",
    );
    assert.equal(code, 1);
    assert.match(stderr, /the change would be rejected: Already exists: the identity has this role at this group/);
  });

  it("simulate accepts capabilities of a role, and requires a change", async () => {
    const { code, stderr } = await caller.run("iam", "access", "simulate", "update-binding", "x");
    assert.deepEqual([code, /Give --identity or --role/.test(stderr)], [2, true], stderr);
    await caller.json("iam", "roles", "create", "reader", "--parent", "example.org", "--capabilities", "repo.list");
    await caller.json(
      "iam",
      "role-bindings",
      "create",
      "--parent",
      "example.org/team",
      "--identity",
      "ci",
      "--role",
      "reader",
    );
    const { stdout } = await access(
      "simulate",
      "update-role",
      "reader",
      "--add-capabilities",
      "repo.delete",
      "--no-headers",
    );
    assert.match(stdout, /^gains +ci +team +0 +repo\.delete\n$/);
  });
});
