import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";

const maxLines = 200;
/** Patterns of names, and examples of names that do not exist. */
const examples = /^(?:parse|check|require|find|open|new)X$|^isExpired$/;

const page = readFileSync("CONTRIBUTING.md", "utf8");

describe("CONTRIBUTING.md", () => {
  it(`CONTRIBUTING.md has at most ${maxLines} lines`, () => assert.ok(page.split("\n").length <= maxLines));

  it("names existing functions and types", () => {
    const sources = globSync("src/**/*.ts").map((file) => readFileSync(file, "utf8"));
    const names = [...page.matchAll(/`([a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w+)`/g)].map(([, name]) => name!);
    const missing = names.filter(
      (name) => !examples.test(name) && !sources.some((text) => new RegExp(`\\b${name}\\b`).test(text)),
    );
    assert.deepEqual(missing, []);
  });

  it("names existing npm scripts, as do all pages", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
    const named = ["CONTRIBUTING.md", "test/README.md", "bench/README.md", ...globSync("docs/**/*.md")]
      .map((file) => readFileSync(file, "utf8"))
      .flatMap((text) => [...text.matchAll(/\bnpm run ([a-z][a-z:-]*[a-z])/g)])
      .map(([, name]) => name!);
    assert.deepEqual(
      named.filter((name) => !(name in scripts)),
      [],
    );
  });
});
