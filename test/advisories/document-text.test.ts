// Texts of files as documents: what JSON.parse and YAML would silently change or drop, and what would take too long.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BadDocument } from "../../src/advisories/document.ts";
import { parseText, type TextFormat, textLimits } from "../../src/advisories/document-text.ts";

const deep = (open: string, close: string, levels: number) => `${open.repeat(levels)}1${close.repeat(levels)}`;

describe("the text of a document", () => {
  const good: readonly (readonly [TextFormat, string, string])[] = [
    ["json", "\uFEFF{}", "{}"],
    ["json", "[1.0, 1e400, -0, 12345678901234567890, 0.10, 7]", "[1.0,1e400,-0,12345678901234567890,0.10,7]"],
    [
      "json",
      '{"a": {"a": ":", "b": "\\\\"}, "\\"": "{", "b": ["a", "a"]}',
      '{"a":{"a":":","b":"\\\\"},"\\"":"{","b":["a","a"]}',
    ],
    ["json", '{"__proto__": 1}', '{"__proto__":1}'],
    ["json", deep("[", "]", 100), deep("[", "]", 100)],
    [
      "yaml",
      "version: 1.10\nnone: ~\nat: 2030-01-02\nlist: [&x a, *x]",
      '{"version":"1.10","none":"~","at":"2030-01-02","list":["a","a"]}',
    ],
    ["yaml", "--- \na: 1\n---\n--- \na: 2\n...\n", '[{"a":"1"},{"a":"2"}]'],
    ["yaml", "", "null"],
    ["yaml", "__proto__: {a: 1}", '{"__proto__":{"a":"1"}}'],
    ["yaml", "a: [{b: 1, c: [], b: {}}, 2]", '{"a":[{"name":"b","entries":[["b","1"],["c",[]],["b",{}]]},"2"]}'],
  ];
  for (const [format, text, json] of good) {
    it(`keeps all of it: ${format} ${JSON.stringify(text.slice(0, 60))}`, () =>
      assert.equal(JSON.stringify(parseText(text, format)), json));
  }

  const bomb = ["a: &a [x, x, x, x, x, x]", ..."bcdefghij"].map((line, i) =>
    i === 0 ? line : `${line}: &${line} [${Array(6).fill(`*${"abcdefghi"[i - 1]}`)}]`,
  );
  const bad: readonly (readonly [TextFormat, string, string])[] = [
    ["json", "", "is not valid JSON: Unexpected end of JSON input"],
    ["json", '{"a": "', "is not valid JSON: Unterminated string in JSON at position 7 (line 1 column 8)"],
    ["json", '{"a": 1,\n"\\u0061": 2}', 'has a member twice: "a" in line 2'],
    ["json", '{"a": {"b": [{"c": 1, "c": 1}]}}', 'has a member twice: "c" in line 1'],
    ["json", deep("[", "]", 101), "is nested more than 100 deep"],
    ["json", "[".repeat(1_000_000), "is nested more than 100 deep"],
    ["yaml", "a: [", "is not valid YAML: "],
    ["yaml", "a: 1\nb: 2\n'a': 3", "has a member twice: a"],
    ["yaml", "a: &a 1\nb: {c: 2, c: *a}", "has a member twice: c"],
    ["yaml", "--- \na: 1\n--- \nb: [", "is not valid YAML: "],
    ["yaml", `${"--- a\n".repeat(textLimits.yamlDocuments + 1)}`, "has more than 10000 YAML documents"],
    ["yaml", deep("[", "]", 3000), "is nested more than 100 deep"],
    ["yaml", "a: &a\n  - b\n  - *a\n  - *a\n", "is nested more than 100 deep"],
    ["yaml", bomb.join("\n"), "is not valid YAML: Excessive alias count"],
    ["yaml", `- &k v\n${"- *k\n".repeat(textLimits.yamlAliases + 1)}`, "has more than 1000 aliases"],
    ["yaml", "a: b\n".repeat(textLimits.yamlBytes / 5 + 1), "is larger than the limit of 4 MiB for YAML"],
  ];
  for (const [format, text, reason] of bad) {
    it(`rejects a text with a reason: ${format} ${JSON.stringify(text.slice(0, 40))}, ${text.length} characters`, () => {
      assert.throws(
        () => parseText(text, format),
        (error) => error instanceof BadDocument && error.message.startsWith(reason) && error.message.length < 300,
      );
    });
  }

  it("parsing the text of a document takes time in proportion to its length", () => {
    // Of a hundred thousand each: keys that are compared pairwise would take minutes.
    const count = 100_000;
    const keys = Array.from({ length: count }, (_, i) => `"k${i}":1`).join();
    assert.equal(Object.keys(parseText(`{${keys}}`, "json") as object).length, count);
    const yaml = Array.from({ length: 20_000 }, (_, i) => `k${i}: v`).join("\n");
    assert.equal(Object.keys(parseText(yaml, "yaml") as object).length, 20_000);
  });
});
