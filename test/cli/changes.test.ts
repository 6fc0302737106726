// Tests the commands that list and follow changes.
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { type Caller, startCaller } from "./caller.ts";
import { start } from "./process.ts";

let caller: Caller;
let team: string;
describe("gatehouse changes", () => {
  before(async () => {
    caller = await startCaller();
    ({ uid: team } = await caller.json("iam", "groups", "create", "team", "--parent", "example.org"));
    await caller.run("iam", "groups", "update", "team", "--description", "of ours");
  });
  after(() => caller[Symbol.asyncDispose]());

  describe("gatehouse changes list", () => {
    const list = (...args: string[]) => caller.run("changes", "list", "--parent", "example.org", ...args);

    it("shows the latest first", async () => {
      const { code, stdout } = await list("--kind", "groups");
      assert.equal(code, 0);
      const lines = stdout.trimEnd().split("\n");
      assert.match(lines[0]!, /^TIME +CHANGE$/);
      assert.match(lines[1]!, /^\S+Z +\S.* changed the group team$/);
      assert.match(lines[2]!, /^\S+Z +\S.* created the group team$/);
      assert.match(lines[3]!, /the server created the group example\.org$/);
      assert.equal(lines.length, 4);
    });

    it("filters by words of the name and by outcome", async () => {
      assert.match((await list("--named", "tea", "--outcome", "allowed")).stdout, /created the group team/);
      assert.match((await list("--named", "tea", "--outcome", "denied")).stderr, /No changes\./);
    });

    it("filters by resource, identity and time, and limits the number", async () => {
      const ids = async (...args: string[]) => (await list("-o", "id", ...args)).stdout.trimEnd().split("\n").length;
      assert.equal(await ids("--resource", team), 2);
      assert.equal(await ids("--resource", team, "--actor", caller.server.ownerUid), 2);
      assert.equal(await ids("--resource", team, "--limit", "1"), 1);
      assert.equal(await ids("--resource", team, "--since", "1h"), 2);
      assert.match((await list("--until", "1h")).stderr, /No changes\./);
      assert.match((await list("--since", "2100-01-01")).stderr, /No changes\./);
    });

    it("reads pages until there are enough changes", async () => {
      for (let i = 0; i < 3; i++) await Promise.all(Array.from({ length: 70 }, (_, j) => make(`g-${i}-${j}`)));
      const { items } = await caller.json("changes", "list", "--parent", "example.org", "--limit", "210");
      assert.equal(new Set(items.map(({ id }: { id: string }) => id)).size, 210);
    });

    it("names the problem of a wrong request", async () => {
      const cases: readonly (readonly [args: readonly string[], code: number, said: RegExp])[] = [
        [["--limit", "0"], 2, /a number from 1 to 10000/],
        [["--since", "last week"], 2, /"last week" is not a time\n.*yesterday/],
        [["--actor", "me"], 1, /actor_uid: must match/],
      ];
      for (const [args, code, said] of cases) {
        const finished = await list(...args);
        assert.equal(finished.code, code, finished.stderr);
        assert.match(finished.stderr, said);
      }
    });

    it("needs no --parent with one organization, and shows names in tables and uids in wide ones", async () => {
      const flags = ["--kind", "groups", "--resource", team];
      const table = await caller.run("changes", "list", ...flags);
      assert.equal(table.code, 0, table.stderr);
      assert.match(table.stdout, / changed the group team\n/);
      assert.ok(!table.stdout.includes(team));
      const wide = await caller.run("changes", "list", ...flags, "-o", "wide");
      assert.match(
        wide.stdout,
        new RegExp(`GroupsService/UpdateGroup +groups +team +${team} .* changed the group team\\n`),
      );
    });

    it("shows the changes of the group that --parent names, not of default.group", async () => {
      const home = { XDG_CONFIG_HOME: path.join(caller.home, "with-default-group") };
      await caller.runWith(home, "config", "set", "default.group", "team");
      const { uid: other } = await caller.json("iam", "groups", "create", "other", "--parent", "example.org");
      const ofOther = ["changes", "list", "--resource", other, "-o", "id"];
      assert.equal((await caller.runWith(home, ...ofOther)).stdout, "");
      assert.match((await caller.runWith(home, ...ofOther, "--parent", "other")).stdout, /^[0-9a-f]{32}\n$/);
    });

    it("accepts times in human spellings", async () => {
      const today = new Date().toISOString().slice(0, 10);
      for (const since of ["yesterday", "2h", "2h ago", "1d12h", "2020-01-01", `${today}T00:00:00Z`])
        assert.match((await list("--since", since, "--resource", team)).stdout, /team/, since);
      assert.match((await list("--until", "yesterday", "--resource", team)).stderr, /No changes\./);
    });
  });

  describe("gatehouse changes follow", () => {
    it("prints a line for each change, from the one that is named", async () => {
      const [{ id }] = (await caller.json("changes", "list", "--parent", "example.org", "--limit", "1")).items;
      const following = start(["changes", "follow", "--parent", team, "--after", id], caller.environment);
      try {
        await caller.run("iam", "groups", "create", "elsewhere", "--parent", "example.org");
        await caller.run("iam", "groups", "create", "first", "--parent", "team");
        const [line] = await following.said(/^\{.*\n/);
        assert.equal(JSON.parse(line).after.name, "first");
        await caller.run("iam", "groups", "create", "second", "--parent", "team");
        const [, second] = await following.said(/^\{.*\n(\{.*)\n/);
        assert.equal(JSON.parse(second!).after.name, "second");
      } finally {
        following.child.kill();
        await following.finished;
      }
    });

    it("prints how to continue when it ends by itself", async () => {
      const server = await startCaller();
      const following = start(["changes", "follow", "--parent", "example.org"], server.environment);
      try {
        await server.run("iam", "groups", "create", "seen", "--parent", "example.org");
        // It follows from its first question on, which may be later than the group.
        for (let i = 0; !following.hasSaid(/seen-/); i++)
          await server.run("iam", "groups", "create", `seen-${i}`, "--parent", "example.org");
      } finally {
        await server[Symbol.asyncDispose]();
      }
      const { code, stderr } = await following.finished;
      assert.equal(code, 1);
      assert.match(stderr, /^To continue from here: --after [\w-]{59}$/m);
    });

    it("fails if the change to follow does not exist", async () => {
      const { code, stderr } = await caller.run(
        "changes",
        "follow",
        "--parent",
        "example.org",
        "--after",
        "0".repeat(32),
      );
      assert.equal(code, 1);
      assert.match(stderr, /after: is neither the id of a change nor/);
    });
  });

  async function make(name: string): Promise<void> {
    const { url, ownerToken, groupUid } = caller.server;
    const headers = { authorization: `Bearer ${ownerToken}`, "content-type": "application/json" };
    const target = `${url}/iam/v2beta1/groups/${groupUid}`;
    assert.equal((await fetch(target, { method: "POST", headers, body: JSON.stringify({ name }) })).status, 200);
  }
});
