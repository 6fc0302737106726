// Values of flags and arguments that are misspelt.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { type Caller, startCaller } from "./caller.ts";

let caller: Caller;
describe("values of flags and arguments", () => {
  before(async () => {
    caller = await startCaller();
    writeFileSync(path.join(caller.home, "kind.yaml"), "kind: RoleBindng\n");
    writeFileSync(path.join(caller.home, "role.yaml"), "kind: Organization\nname: example.org\n");
    await caller.run("config", "set", "platform.api", caller.server.url, "--context", "staging");
    await caller.json("events", "subscriptions", "create", "https://hooks.example.com/a", "--parent", "example.org");
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
  });

  const cases: readonly (readonly [value: string, args: readonly string[], suggested: string])[] = [
    ["an output format", ["iam", "groups", "list", "-o", "jsn"], "json"],
    ["an output format before the command", ["-o", "yml", "iam", "groups", "list"], "yaml"],
    ["a configured output format", ["config", "set", "output.format", "tabel"], "table"],
    ["the key of a setting", ["config", "get", "output.formt"], "output.format"],
    ["the name of a context", ["config", "use-context", "stagin"], "staging"],
    ["a built-in role", ["iam", "role-bindings", "list", "--role", "vewer"], "viewer"],
    ["a role of an identity", ["iam", "identities", "create", "x", "--role", "onwer"], "owner"],
    ["a capability of a role", ["iam", "roles", "create", "x", "--capabilities", "group.list"], "groups.list"],
    ["a capability of a question", ["auth", "can-i", "groups.lst", "--group", "example.org"], "groups.list"],
    ["a capability of a list", ["iam", "access", "who-can", "example.org", "--capability", "repos.list"], "repo.list"],
    ["an identity type", ["iam", "identities", "list", "--type", "statc"], "static"],
    ["the status of an advisory", ["advisories", "list", "--status", "fixd"], "fixed"],
    ["a column to sort by", ["iam", "groups", "list", "--sort", "nmae"], "name"],
    ["a kind of changes", ["changes", "list", "--kind", "group"], "groups"],
    ["a kind in a file", ["diff", "-f", "HOME/kind.yaml"], "RoleBinding"],
    ["a kind to prune", ["diff", "-f", "HOME/role.yaml", "--prune", "--prune-kinds", "Rol"], "Role"],
    ["a method of HTTP", ["api", "PSOT", "/iam/v2beta1/groups"], "POST"],
    ["a shell", ["completion", "bahs"], "bash"],
    [
      "a subscription",
      ["events", "subscriptions", "describe", "https://hooks.example.com/b"],
      "https://hooks.example.com/a",
    ],
    ["a command after help", ["help", "iam", "grups"], "groups"],
  ];

  const identity = ["--parent", "example.org", "--identity-issuer", "https://i.test", "--subject", "s"];

  describe("misspelt values", () => {
    for (const [value, args, suggested] of cases)
      it(`${value} that is misspelt suggests ${suggested}`, async () => {
        const given = args.map((arg) => arg.replace("HOME", caller.home));
        const { stderr } = await caller.run(
          ...given,
          ...(args[1] === "identities" && args[2] === "create" ? identity : []),
        );
        assert.match(stderr, new RegExp(`did you mean ${suggested.replaceAll(".", "\\.")}\\?`, "i"));
      });

    it("a misspelt name of an organization suggests no organization", async () => {
      const { stderr } = await caller.run("iam", "groups", "describe", "exmple.org");
      assert.doesNotMatch(stderr, /did you mean/i);
    });
  });

  it("a value in another case is accepted", async () => {
    const { code, stdout } = await caller.run("iam", "groups", "list", "-o", "JSON");
    assert.equal(code, 0);
    assert.ok(JSON.parse(stdout).items.length > 0);
  });
});
