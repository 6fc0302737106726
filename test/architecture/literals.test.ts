// The literals of all code, whose spreads would only steer the formatter.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { withoutComments } from "./sources.ts";

const folders = ["bench", "build", "console/src", "packages", "src", "test"];

/** An object that is spread where it is written, or an array without a call on it. `{...{` is an object of JSX. */
const spreadLiteral = /(?<!\{)\.\.\.\{|\.\.\.\[[^[\]]*\](?=\s*[,)\]}])/;

describe("literals", () => {
  for (const folder of folders) {
    it(`of ${folder} are not spread where they are written`, () => {
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
        /^(?!.*node_modules).*\.[jt]sx?$/.test(file),
      );
      assert.ok(files.length > 0);
      const spread = files.filter((file) =>
        spreadLiteral.test(withoutComments(readFileSync(path.join(folder, file), "utf8"))),
      );
      assert.deepEqual(spread, []);
    });
  }

  it("the search for spread literals finds a spread object, and a spread array without a call", () => {
    // An ellipsis stands for the three dots: this file itself has no spread literal.
    const isSpread = (example: string) => spreadLiteral.test(example.replaceAll("…", "..."));
    assert.deepEqual(["f(…{ a })", '[a, …["b"]]'].filter(isSpread).length, 2);
    assert.deepEqual(['[…["b"].map(f)]', "[…[…all].sort()]", "{ …a }"].filter(isSpread), []);
  });
});
