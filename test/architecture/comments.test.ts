// The form of doc comments: they name their subject, because readers see only the first words in an editor.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";

const files = globSync(["{src,bench,build,test}/**/*.ts", "console/src/**/*.{ts,tsx}", "packages/*/src/**/*.ts"], {
  exclude: ["**/node_modules/**"],
});

describe("a doc comment", () => {
  it('begins with a verb or a noun, and not with "What"', () => {
    const riddles = files.flatMap((file) => {
      const found = readFileSync(file, "utf8").match(/\/\*\*\s+(?:\*\s+)?What\b.*/g) ?? [];
      return found.map((comment) => `${file}: ${comment}`);
    });
    assert.deepEqual(riddles, []);
  });
});
