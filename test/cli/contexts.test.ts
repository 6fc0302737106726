// Contexts: named settings in the file, and which of them a command uses.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { type Caller, homeEnvironment, startCaller } from "./caller.ts";

const text = `# Servers of example.org
platform: {api: "http://127.0.0.1:1"}
output: {format: id}
contexts:
  here:
    platform: {api: SERVER}
  there: # closed at night
    platform: {api: "http://127.0.0.1:2"}
    default: {group: research}
`;

let caller: Caller;
let home: Record<string, string>;
let file: string;
describe("contexts", () => {
  before(async () => {
    caller = await startCaller();
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
  });
  let homes = 0;
  beforeEach(() => {
    const folder = path.join(caller.home, `contexts-${homes++}`);
    file = path.join(folder, "config/gatehouse/config.yaml");
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text.replace("SERVER", JSON.stringify(caller.server.url)));
    home = { ...homeEnvironment(folder), GATEHOUSE_URL: "" };
  });
  const run = (...args: string[]) => caller.runWith(home, ...args);

  describe("the context of a command", () => {
    const list = ["iam", "groups", "list"];
    const reaches = async (address: string, args: string[], environment = {}) => {
      const { stderr } = await caller.runWith({ ...home, ...environment }, ...list, ...args);
      assert.match(stderr, new RegExp(`http://127\\.0\\.0\\.1:${address}\\b`));
    };

    it("is the one of --context, and inherits what it does not set", async () => {
      const { code, stdout } = await run(...list, "--context", "here");
      assert.equal(code, 0);
      assert.match(stdout, /^[0-9a-f]{40}\n/);
      assert.equal((await run("--context", "here", ...list)).stdout, stdout);
    });
    it("no context is used unless one is chosen", () => reaches("1", []));
    it("GATEHOUSE_CONTEXT chooses the context", () => reaches("2", [], { GATEHOUSE_CONTEXT: "there" }));
    it("the current context is used by default", async () => {
      assert.equal((await run("config", "use-context", "there")).code, 0);
      await reaches("2", []);
      await run("config", "use-context", "--none");
      await reaches("1", []);
    });
    it("is the current one after GATEHOUSE_URL, as `use-context` warns", async () => {
      const url = { GATEHOUSE_URL: "http://127.0.0.1:3" };
      const { stderr } = await caller.runWith({ ...home, ...url }, "config", "use-context", "there");
      assert.match(stderr, /GATEHOUSE_URL is set, and comes before the address of the context/);
      await reaches("3", [], url);
      assert.doesNotMatch((await run("config", "use-context", "there")).stderr, /GATEHOUSE_URL/);
    });
    it("is that of the flag rather than of variables", async () => {
      await reaches("2", ["--context", "there"], { GATEHOUSE_CONTEXT: "here", GATEHOUSE_URL: "http://127.0.0.1:3" });
      await reaches("3", ["--context", "there", "--url", "http://127.0.0.1:3"]);
    });
    it("a context that is named must exist", async () => {
      for (const [args, environment] of [
        [["--context", "elsewhere"], {}],
        [[], { GATEHOUSE_CONTEXT: "elsewhere" }],
      ] as const) {
        const { code, stderr } = await caller.runWith({ ...home, ...environment }, ...list, ...args);
        assert.deepEqual(
          [code, stderr],
          [2, 'gatehouse: there is no context "elsewhere"\n  Contexts are here, there.\n'],
        );
      }
    });
  });

  describe("the commands of contexts", () => {
    it("list them, and mark the one in use", async () => {
      await run("config", "use-context", "there");
      const { stdout } = await run("config", "get-contexts", "-o", "table");
      assert.match(
        stdout,
        /^CURRENT +NAME +ADDRESS +GROUP\n +here +http\S+\n\* +there +http:\/\/127\.0\.0\.1:2 +research\n$/,
      );
      assert.equal((await run("config", "current-context")).stdout, "there\n");
    });
    it("say that none is in use", async () => {
      const { code, stderr } = await run("config", "current-context");
      assert.deepEqual([code, stderr], [1, "gatehouse: no context is in use\n"]);
    });
    it("set, show and unset the settings of one, and keep comments", async () => {
      assert.match(
        (await run("config", "set", "output.format", "json", "--context", "new.one")).stderr,
        /the context new\.one in /,
      );
      assert.equal((await run("config", "get", "output.format", "--context", "new.one")).stdout, "json\n");
      assert.equal((await run("config", "get", "output.format")).stdout, "id\n");
      await run("config", "unset", "default.group", "--context", "there");
      assert.match((await run("config", "view", "--context", "there")).stdout, /^default\.group +- /m);
      assert.match(readFileSync(file, "utf8"), /closed at night/);
    });
    it("set the settings of the context in use", async () => {
      await run("config", "use-context", "there");
      await run("config", "set", "default.group", "tools");
      assert.match(readFileSync(file, "utf8"), /default: \{ ?group: tools ?\}/);
      const { stderr } = await run("config", "unset", "output.format");
      assert.match(stderr, /output\.format is not set in the context there/);
    });
    it("delete one, which is then not in use", async () => {
      await run("config", "use-context", "there");
      assert.equal((await run("config", "delete-context", "there")).code, 0);
      assert.equal((await run("config", "current-context")).code, 1);
      const { code, stderr } = await run("config", "delete-context", "there");
      assert.deepEqual(
        [code, stderr],
        [2, 'gatehouse: there is no context "there"\n  Did you mean here?\n  Contexts are here.\n'],
      );
    });
    it("are completed by name", async () => {
      assert.match((await run("complete", "config", "use-context", "th")).stdout, /^there\thttp:\/\/127\.0\.0\.1:2\n/);
      assert.match((await run("complete", "iam", "groups", "list", "--context", "")).stdout, /^here\t.*\nthere\t/);
    });
    const wrong: [string, string[], RegExp][] = [
      [
        "a name with a slash",
        ["config", "set", "default.group", "x", "--context", "a/b"],
        /"a\/b" is not a name of a context/,
      ],
      ["neither a name nor --none", ["config", "use-context"], /name a context, or use --none/],
      ["a name and --none", ["config", "use-context", "here", "--none"], /name a context, or use --none/],
    ];
    for (const [name, args, message] of wrong)
      it(`reject ${name}`, async () => {
        const { code, stderr } = await run(...args);
        assert.equal(code, 2);
        assert.match(stderr, message);
      });
    const files: [string, string, RegExp][] = [
      ["contexts that are a list", "contexts: [a]", /config\.yaml: contexts must hold settings/],
      [
        "a context with an unknown setting",
        "contexts: {a: {platform: {apy: x}}}",
        /sets platform\.apy, which is not a setting/,
      ],
      ["a current context that is a number", "current-context: 1", /current-context must be a text/],
    ];
    for (const [name, content, message] of files)
      it(`reject a file with ${name}`, async () => {
        writeFileSync(file, content);
        const { code, stderr } = await run("config", "get-contexts");
        assert.equal(code, 2);
        assert.match(stderr, message);
      });
  });
});
