// YAML that the command line reads and writes.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { parse } from "yaml";
import { yamlText } from "../../src/cli/escape.ts";
import { isQuick } from "../harness/quick.ts";
import { type Caller, startCaller } from "./caller.ts";
import { run } from "./process.ts";
import { runInTurn } from "./resident.ts";

describe("YAML that the command line reads", () => {
  let caller: Caller;
  before(async () => {
    caller = await startCaller();
    await caller.run("iam", "organizations", "create", "acme");
  });
  after(() => caller[Symbol.asyncDispose]());

  const bomb = Array.from({ length: 12 }, (_, i) => `a${i}: &a${i} [${`*a${i - 1}, `.repeat(9)}*a${i - 1}]`)
    .with(0, "a0: &a0 [x]")
    .join("\n");
  const mistakes: readonly (readonly [rule: string, text: string, place: RegExp])[] = [
    ["aliases that unfold to millions of values", `${bomb}\nkind: Group\nname: a\n`, /:1: Excessive alias count/],
    ["a template that was not rendered", "kind: Group\nname: {{ name }}\n", /:2: a key must be a text; put \{\{ and/],
    ["a tag of another tool", "kind: Group\nname: !Ref name\n", /:2: Unresolved tag: !Ref/],
    ["nesting without end", `kind: Group\nname: ${"[".repeat(100_000)}`, /:2: Maximum call stack size exceeded/],
    ["a key twice", "kind: Group\nname: a\nname: b\n", /:3: Map keys must be unique/],
  ];
  for (const [rule, text, place] of mistakes)
    it(`${rule}: the place and exit code 2 by each command, and no warning of Node`, async () => {
      const file = path.join(caller.home, "file.yaml");
      writeFileSync(file, text);
      for (const words of [
        ["diff", "--group", "acme", "-f", file],
        ["apply", "--group", "acme", "--yes", "-f", file],
        ["iam", "groups", "create", "--parent", "acme", "-f", file],
      ]) {
        // Only a process of its own shows warnings of Node. All commands read files by one function.
        const runWords = words[0] === "diff" && !isQuick ? run : runInTurn;
        const { code, stdout, stderr } = await runWords(words, caller.environment);
        assert.deepEqual([code, stdout], [2, ""], stderr);
        assert.match(stderr, place);
        assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
      }
    });

  it("a comparison that fails for any other reason has exit code 2, too", async () => {
    const file = path.join(caller.home, "file.yaml");
    writeFileSync(file, "kind: Group\nname: a\n");
    for (const other of [{ GATEHOUSE_TOKEN: "" }, { GATEHOUSE_URL: "http://127.0.0.1:1" }, { GATEHOUSE_CONTEXT: "x" }])
      assert.equal((await caller.runWith(other, "diff", "--group", "acme", "-f", file)).code, 2);
  });
});

describe("YAML that the command line writes", () => {
  // https://yaml.org/type/ for null, merge, value, bool, int, float and timestamp, and what PyYAML takes for them.
  const texts = [
    "",
    "~",
    "null",
    "Null",
    "NULL",
    "<<",
    "=",
    "y",
    "N",
    "yes",
    "No",
    "NO",
    "on",
    "Off",
    "true",
    "FALSE",
    "0",
    "1_000",
    "-1",
    "+12",
    "0b1010_0111",
    "017",
    "-0o17",
    "0x_0A_74_AE",
    "190:20:30",
    "1:30",
    "-1:30",
    "6.8523015e+5",
    "685.230_15e+03",
    "1.",
    ".5",
    "1_0.5",
    "190:20:30.15",
    "1e3",
    ".inf",
    "-.INF",
    ".NaN",
    "+.inf",
    "2026-11-28",
    "2001-12-14t21:59:43.10-05:00",
    "2001-12-14 21:59:43.10 -5",
    "2001-1-2 3:04:05",
  ];

  it("texts that YAML 1.1 takes for other values are quoted, as values and as keys", async () => {
    for (const text of texts) {
      assert.equal(await yamlText([text]), `- "${text}"\n`);
      assert.equal(await yamlText({ [text]: "a" }), `"${text}": a\n`);
    }
  });

  it("ordinary texts are not quoted", async () => {
    for (const text of ["acme", "2026-11", "1.2.3-r0", "groups.list", "north", "1st", "12a", "c0ffee", "repo:acme/app"])
      assert.equal(await yamlText([text]), `- ${text}\n`);
  });

  it("texts that begin with a blank line are read as they were", async () => {
    for (const text of [" \n", "\n", " \n\n", "  \n x\n", "\n \nx"])
      assert.deepEqual(parse(await yamlText([text])), [text]);
  });

  it("readers of YAML 1.1 and 1.2 read every text as it was", async () => {
    const characters = fc.constantFrom(..."0123456789_.:+-eExXobTtZzyYnNoO=~< #\n");
    const text = fc.oneof(fc.constantFrom(...texts), fc.string({ unit: characters, maxLength: 10 }));
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 20 }), async (all) => {
        const written = await yamlText(all);
        for (const version of ["1.1", "1.2"] as const) assert.deepEqual(parse(written, { version }), all);
      }),
      { numRuns: 500 },
    );
  });
});
