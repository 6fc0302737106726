// Tests of the options of lists: titles, order, limit, query, watch.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { parse as parseYaml } from "yaml";
import { sorted } from "../../src/cli/output/order.ts";
import { type Caller, startCaller } from "./caller.ts";
import { start } from "./process.ts";

let caller: Caller;
describe("lists on the command line", () => {
  before(async () => {
    caller = await startCaller();
    for (const name of ["release 1.10", "release 1.9", "release 2"])
      assert.equal((await caller.run("iam", "folders", "create", name, "--parent", "example.org")).code, 0);
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
  });

  const folders = ["iam", "folders", "list", "--parent", "example.org"];

  /** Returns the first words of the lines that a list prints. */
  async function names(...args: string[]): Promise<string[]> {
    const { code, stdout, stderr } = await caller.run(...folders, ...args);
    assert.equal(code, 0, stderr);
    return stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ {2,}|,/)[0]!);
  }

  describe("a list", () => {
    const inOrder = ["release 1.9", "release 1.10", "release 2"];
    const cases: [args: string[], shown: string[]][] = [
      [[], ["NAME", ...inOrder]],
      [["--no-headers"], inOrder],
      [["--no-headers", "-o", "csv"], inOrder],
      [["--no-headers", "--limit", "2"], inOrder.slice(0, 2)],
      [["--no-headers", "--sort", "name:desc"], inOrder.toReversed()],
      [["--no-headers", "--sort", "name:asc"], inOrder],
      [
        ["--no-headers", "--sort", "created"],
        ["release 1.10", "release 1.9", "release 2"],
      ],
      [["--no-headers", "--sort", "createTime:desc", "--limit", "1"], ["release 2"]],
      // Equal ones are in the order of their names.
      [["--no-headers", "--sort", "verified"], inOrder],
      [["--query", "items[].name"], inOrder],
      [["--query", "items[].name", "--sort", "name:desc", "--limit", "1"], ["release 2"]],
      [
        ["--query", "items[].{folder: name}"],
        ["FOLDER", ...inOrder],
      ],
      [["--query", "items[].{folder: name}", "--no-headers", "-o", "csv"], inOrder],
      [["--query", "length(items)"], ["3"]],
      [["--query", "items[?name=='release 2'] | [0].name"], ["release 2"]],
    ];
    for (const [args, shown] of cases) {
      it(args.join(" ") || "without flags", async () => assert.deepEqual(await names(...args), shown));
    }

    it("says how many are not shown", async () => {
      const { stderr } = await caller.run(...folders, "--limit", "1");
      assert.equal(stderr, "2 more folders are not shown: --limit 1.\n");
      assert.equal((await caller.run(...folders, "--limit", "1", "-o", "json")).stderr, "");
    });

    it("prints what a query selects as JSON or YAML, the value as it is", async () => {
      const query = ["--query", "items[0].[name, length(name)]"];
      assert.deepEqual(JSON.parse((await caller.run(...folders, ...query, "-o", "json")).stdout), ["release 1.9", 11]);
      assert.deepEqual(parseYaml((await caller.run(...folders, ...query, "-o", "yaml")).stdout), ["release 1.9", 11]);
      assert.deepEqual(JSON.parse((await caller.run(...folders, "--query", "items[0]")).stdout).name, "release 1.9");
    });

    const wrong: [args: string[], said: RegExp][] = [
      [
        ["--sort", "nmae"],
        /^gatehouse: --sort: folders have no field "nmae"\n {2}Did you mean name\?\n {2}Columns are name, uid, description, created, updated\.\n$/,
      ],
      [["--sort", ""], /--sort: folders have no field ""/],
      [["--limit", "0"], /It is a whole number from 1/],
      [["--limit", "-1"], /It is a whole number from 1/],
      [["--limit", "1e3"], /It is a whole number from 1/],
      [["--query", "items["], /^gatehouse: --query: .*\n {2}It is a JMESPath expression/],
      [["--query", "nosuch(items)"], /^gatehouse: --query: /],
      [["--watch", "--limit", "1"], /cannot be used with/],
      [["--watch", "-o", "tree"], /--watch has no format tree/],
      [["--watch", "--query", "items"], /--watch and --query exclude each other/],
    ];
    for (const [args, said] of wrong) {
      it(`rejects ${args.join(" ")} as wrong usage`, async () => {
        const { code, stdout, stderr } = await caller.run(...folders, ...args);
        assert.match(stderr, said);
        assert.deepEqual([code, stdout], [2, ""]);
      });
    }

    it("takes a title of two words, and the path of a nested field", async () => {
      const { code } = await caller.run("iam", "identities", "list", "--sort", "last-seen");
      assert.equal(code, 0);
      assert.equal((await caller.run("iam", "identities", "list", "--sort", "claimMatch.issuer")).code, 0);
      assert.equal((await caller.run("iam", "identities", "list", "--sort", "claimMatch.nothing")).code, 2);
    });

    it("orders times of different precision, and has empty values last in both directions", () => {
      const rows = ["2030-01-01T00:00:00.5Z", "", "2030-01-01T00:00:00Z"].map((time) => ({ time }));
      const view = { noun: "things", columns: [{ title: "time", value: "time" }] };
      const order = (sort: string) => sorted(view, rows, sort).map(({ time }) => time);
      assert.deepEqual(order("time"), ["2030-01-01T00:00:00Z", "2030-01-01T00:00:00.5Z", ""]);
      assert.deepEqual(order("time:desc"), ["2030-01-01T00:00:00.5Z", "2030-01-01T00:00:00Z", ""]);
    });

    it("lists of changes and of capabilities have the same flags", async () => {
      const { stdout } = await caller.run(
        "iam",
        "roles",
        "capabilities",
        "list",
        "--sort",
        "capability:desc",
        "--limit",
        "1",
        "--no-headers",
      );
      assert.match(stdout, /^workloads\.list /);
      const changes = await caller.run(
        "changes",
        "list",
        "--parent",
        "example.org",
        "--limit",
        "2",
        "--query",
        "items[].kind",
      );
      assert.equal(changes.stdout, "groups\ngroups\n");
    });
  });

  describe("list --watch", () => {
    it("prints the list and then each change, until it is interrupted", async () => {
      const watch = (...args: string[]) => start([...folders, "--watch", ...args], { ...caller.environment });
      const [table, json] = [watch(), watch("-o", "json")];
      await Promise.all([table.said(/added +release 2 /), json.said(/release 2/)]);
      await caller.run("iam", "folders", "create", "tools", "--parent", "example.org", "-d", "one");
      await Promise.all([table.said(/^added +tools /m), json.said(/"tools"/)]);
      await caller.run("iam", "folders", "update", "tools", "-d", "two");
      await Promise.all([table.said(/^changed +tools +\S+ +two$/m), json.said(/"changed"/)]);
      await caller.run("iam", "folders", "delete", "tools", "--yes");
      await Promise.all([table.said(/^deleted +tools /m), json.said(/"deleted"/)]);
      for (const { child } of [table, json]) child.kill("SIGINT");
      const [shown, lines] = await Promise.all([table.finished, json.finished]);
      assert.match(shown.stdout, /^EVENT +NAME +UID/);
      assert.equal(shown.stdout.match(/EVENT/g)?.length, 1);
      assert.equal(shown.stderr, "");
      assert.equal(table.child.signalCode ?? table.child.exitCode, table.child.signalCode ? "SIGINT" : 130);
      const events = lines.stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      assert.deepEqual(
        events.slice(-3).map(({ event, object }) => [event, object.name, object.description]),
        [
          ["added", "tools", "one"],
          ["changed", "tools", "two"],
          ["deleted", "tools", "two"],
        ],
      );
    });
  });
});
