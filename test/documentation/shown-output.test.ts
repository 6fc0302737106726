// Tests of the comparison between a page's shown output and the real one.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { blocksOf, shownCommands } from "./blocks.ts";
import { differenceFrom, shortened } from "./shown-output.ts";

const uid = `${"9f18".padEnd(36, "0")}bf53`;
const other = `${"9f18".padEnd(36, "1")}bf53`;

describe("shown output", () => {
  const same: [what: string, shown: string, printed: string][] = [
    ["the same text", "a b\nc", "a b\nc\n"],
    ["columns of another width", "NAME  UID\na     9f18…bf53", `NAME   UID\na      ${uid}`],
    ["a shortened uid", "uid 9f18…bf53.", `uid ${uid}.`],
    ["another time", "at 2026-01-01T00:00:00Z", "at 2027-02-02T10:20:30.123Z"],
    ["a token", "eyJhbGciOi…", "eyJh.eyJz.c2ln"],
    ["text within a line", "a … c", "a b c"],
    ["lines", "a\n…\nd", "a\nb\nc\nd"],
    ["lines at the end", "a\n…", "a\nb\nc"],
    ["JSON over several lines", '{\n  "a": [1, …],\n  "b c": "d e"\n}', '{"a":[1,2,3],"b c":"d e"}'],
  ];
  for (const [what, shown, printed] of same) {
    it(`matches ${what}`, () => {
      assert.equal(differenceFrom(shown, printed, new Map()), undefined);
    });
  }

  const different: [what: string, shown: string, printed: string][] = [
    ["another text", "a", "b"],
    ["one line more", "a", "a\nb"],
    ["one line less", "a\nb", "a"],
    ["a missing line after others", "a\n…\nd", "a\nb"],
    ["no uid where one is shown", "uid 9f18…bf53", "uid 1"],
    ["two values for one shortened text", "9f18…bf53 9f18…bf53", `${uid} ${other}`],
    ["another space in a JSON string", '{"a": "b c"}', '{"a":"bc"}'],
    ["a sign that is special in patterns", "a.c", "abc"],
  ];
  for (const [what, shown, printed] of different) {
    it(`shown output does not match ${what}`, () => {
      assert.notEqual(differenceFrom(shown, printed, new Map()), undefined);
    });
  }

  it("shown output has one value for a shortened text all over the page", () => {
    const known = new Map<string, string>();
    assert.equal(differenceFrom("9f18…bf53", uid, known), undefined);
    assert.match(differenceFrom("9f18…bf53", other, known) ?? "", /^9f18…bf53 stands for/);
  });

  it("the test proposes output with shortened uids and tokens", () => {
    assert.equal(shortened(`${uid}/${uid.slice(0, 16)} eyJh.eyJz.c2ln`), "9f18…bf53/9f18…0000 eyJhbGciOi…");
  });
});

describe("blocks of a page", () => {
  it("blocks of a page have a language, attributes and the text without the indentation of their list", () => {
    const [block] = blocksOf('1. A\n\n   ```sh no-run="needs Docker"\n   a\n     b\n   ```\n');
    assert.deepEqual(block, {
      language: "sh",
      attributes: new Map([["no-run", "needs Docker"]]),
      text: "a\n  b\n",
      line: 3,
    });
  });

  it("blocks of a page are rejected with an unknown attribute, or one without a value", () => {
    for (const info of ['run="no"', "no-run", 'no-run=""'])
      assert.throws(() => blocksOf(`\`\`\`sh ${info}\na\n\`\`\``), /^Error: line 1: /);
  });

  it("blocks of a console have commands, which continue after a backslash, and their outputs", () => {
    assert.deepEqual(shownCommands("$ a \\\n  b\nc\n\n$ d\n"), [
      { command: "a \\\n  b", output: "c" },
      { command: "d", output: "" },
    ]);
    assert.throws(() => shownCommands("a\n$ b\n"), /comes before the first command/);
  });
});
