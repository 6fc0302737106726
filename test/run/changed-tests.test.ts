import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { changedFiles, selectTests } from "./changed-tests.ts";
import { git } from "./git.ts";

const files = {
  "src/price.ts": `import type { Currency } from "./currency.ts";\nimport { round } from "./round.ts";\n`,
  "src/round.ts": "export const round = Math.round;\n",
  "src/currency.ts": "export type Currency = string;\n",
  "src/late.ts": `export const load = () => import("./round.ts");\n`,
  "src/program.ts": `export * from "./late.ts";\n`,
  "test/price.test.ts": `import {\n  price,\n} from "../src/price.ts";\n`,
  "test/program.test.ts": `spawn("node", ["src/program.ts"]);\n`,
  "test/currency.test.ts": `import { check } from "../src/currency.ts";\n`,
  "test/pages.test.ts": `for (const page of readdirSync("docs")) check(page);\n`,
  "test/cases.test.ts": `import "./cases.ts";\n`,
  "test/commands.full.ts": `for (const page of readdirSync("docs")) run(page);\n`,
  "test/cases.ts": `const cases = new URL("cases/", import.meta.url);\n`,
  "test/cases/one.json": "{}\n",
  "docs/page.md": "# Page\n",
  "package.json": "{}\n",
};
const tests = Object.keys(files).filter((file) => /\.(?:test|full)\.ts$/.test(file));

describe("npm test -- --changed", () => {
  let root: string;

  before(() => {
    root = mkdtempSync(path.join(tmpdir(), "gatehouse-changed-"));
    for (const [file, text] of Object.entries(files)) write(file, text);
    git(["init", "--quiet", "--initial-branch=main"], root);
    commit("initial");
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  function write(file: string, text: string): void {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }

  function commit(message: string): void {
    const author = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
    git(["add", "."], root);
    git([...author, "commit", "--quiet", "--message", message], root);
  }

  for (const [rule, changed, expected] of [
    ["a changed test is selected", "test/price.test.ts", ["test/price.test.ts"]],
    ["an import over several lines is followed", "src/price.ts", ["test/price.test.ts"]],
    ["imports are followed transitively", "src/round.ts", ["test/price.test.ts", "test/program.test.ts"]],
    ["a type import is not followed", "src/currency.ts", ["test/currency.test.ts"]],
    ["a program that a test names is followed", "src/late.ts", ["test/program.test.ts"]],
    [
      "a new file in a folder that a test of the matrix or another one lists selects both",
      "docs/new.md",
      ["test/commands.full.ts", "test/pages.test.ts"],
    ],
    ["a data file selects the tests that read its folder", "test/cases/one.json", ["test/cases.test.ts"]],
    ["a deleted file that nothing imports selects nothing", "src/gone.ts", []],
    ["a change of dependencies selects every test", "package.json", tests],
  ] as const) {
    it(rule, () => assert.deepEqual(selectTests(tests, [changed], root).sort(), [...expected].sort()));
  }

  it("compares with the merge base: commits of the branch, uncommitted changes and new files", () => {
    git(["checkout", "--quiet", "-b", "branch"], root);
    write("src/round.ts", "export const round = Math.floor;\n");
    commit("round down");
    write("docs/page.md", "# Changed\n");
    write("docs/new.md", "# New\n");
    assert.deepEqual(changedFiles(root), ["docs/new.md", "docs/page.md", "src/round.ts"]);
  });
});
