import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BadDocument } from "../../src/advisories/document.ts";
import { clip } from "../../src/base/clip.ts";
import { type NextBytes, parseSparsely } from "../../src/sboms/sparse-json.ts";
import { cycloneDx, dsse, spdx, statement } from "./documents.ts";

const limits = { depth: 10, values: 1000, members: 100, items: 500 };

const none: ReadonlySet<string> = new Set();

/** Returns all names of members in a value. */
function namesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return [...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(namesIn)];
}

/** Returns what JSON.parse makes of a text; undefined for what is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the bytes of a text in parts of this size. */
function partsOf(text: string, size = Number.POSITIVE_INFINITY): NextBytes {
  let left = Buffer.from(text);
  return () => {
    const part = left.subarray(0, size);
    left = left.subarray(part.length);
    return part.length > 0 ? part : undefined;
  };
}

/** Returns the value of a text with all members kept; undefined for what is not JSON. */
function sparse(text: string, kept: ReadonlySet<string> = new Set(namesIn(parsed(text))), size?: number): unknown {
  try {
    return parseSparsely(partsOf(text, size), { kept, embedded: none }, limits);
  } catch (error) {
    assert.ok(error instanceof SyntaxError || error instanceof BadDocument, String(error));
    // A text with a member twice is JSON, too.
    return error instanceof BadDocument ? parsed(text) : undefined;
  }
}

/** Returns numbers from 0 on below a bound, the same in each run. */
function newRandom(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

describe("JSON of which only some members are kept", () => {
  const documents = [
    cycloneDx(["pkg:npm/a@1", undefined]),
    spdx(["pkg:npm/b@1"]),
    dsse(statement({})),
    {
      text: 'a "quoted" \\ line\nand é, 世界, \u0001',
      numbers: [0, -1, 1.5e-7, 1e300],
      words: [true, false, null],
      "": {},
    },
    [],
    "text",
    0,
  ];
  const texts = documents.flatMap((document) => [JSON.stringify(document), JSON.stringify(document, null, "\t")]);

  it("the sparse parser returns the value of JSON.parse if all members are kept", () => {
    for (const text of texts) assert.deepEqual(sparse(text), JSON.parse(text));
  });

  it("returns the same value for bytes that come in parts, wherever these end", () => {
    for (const text of texts)
      for (const size of [1, 2, 3, 5, 7, 64]) assert.deepEqual(sparse(text, undefined, size), JSON.parse(text));
  });

  it("accepts and rejects the same texts as JSON.parse, whether members are kept or not", () => {
    const random = newRandom(44);
    const characters = Array.from('{}[]",:\\ue+-.01 \n\ttfnés\u0000');
    for (let round = 0; round < 20_000; round++) {
      const text = texts[random(texts.length)]!;
      const at = random(text.length);
      const changed = text.slice(0, at) + characters[random(characters.length)] + text.slice(at + random(3));
      const expected = parsed(changed);
      assert.deepEqual(sparse(changed), expected, changed);
      const size = 1 + random(8);
      assert.deepEqual(sparse(changed, undefined, size), expected, `${changed} in parts of ${size}`);
      assert.equal(sparse(changed, new Set(), size) === undefined, expected === undefined, changed);
    }
  });

  it("keeps the named ones wherever they are", () => {
    const text = '{"a": {"b": [{"c": 1, "a": 2}], "c": 3}, "b": 4, "c": {"a": 5}}';
    assert.deepEqual(parseSparsely(partsOf(text), { kept: new Set(["a", "b"]), embedded: none }, limits), {
      a: { b: [{ a: 2 }] },
      b: 4,
    });
  });

  const rejected: readonly (readonly [name: string, text: string, problem: string])[] = [
    ["a member twice", '{"x": {"y": 1,\n"\\u0079": 2}}', 'has a member twice: "y" in line 2'],
    [
      "a long member twice",
      `{"${"x".repeat(5000)}": 1, "${"x".repeat(5000)}": 2}`,
      `has a member twice: ${JSON.stringify(clip("x".repeat(5000)))} in line 1`,
    ],
    ["too much depth", "[".repeat(11), "is nested more than 10 deep"],
    ["too many values", `[${`[${"1,".repeat(400)}1],`.repeat(3)}1]`, "needs more memory than a document may"],
    ["too many items", `[${"1,".repeat(500)}1]`, "has a list of more than 500 items"],
    [
      "too many members",
      `{${Array.from({ length: 101 }, (_, i) => `"${i}":0`).join()}}`,
      "has an object with more than 100 members",
    ],
  ];
  for (const [name, text, message] of rejected)
    it(`rejects ${name}`, () => {
      for (const size of [1, text.length])
        assert.throws(() => parseSparsely(partsOf(text, size), { kept: none, embedded: none }, limits), {
          name: "BadDocument",
          message,
        });
    });

  it("the sparse parser counts only members that are kept", () => {
    const document = `{"x": [${"{},".repeat(5000)}{}]}`;
    assert.deepEqual(parseSparsely(partsOf(document), { kept: none, embedded: none }, limits), {});
  });

  const base64 = Buffer.from(JSON.stringify({ a: [1, "世界"] })).toString("base64");
  const embedded: readonly (readonly [name: string, payload: unknown, value: unknown])[] = [
    ["JSON", base64, { a: [1, "世界"] }],
    ["JSON without padding", base64.replace(/=+$/, ""), { a: [1, "世界"] }],
    ["JSON in lines", base64.replace(/.{5}/g, "$&\r\n"), { a: [1, "世界"] }],
    ["JSON with a letter outside the alphabet of URLs", Buffer.from('"?>?~~"').toString("base64url"), "?>?~~"],
    ["other text", Buffer.from("text").toString("base64"), undefined],
    ["JSON with text behind it", Buffer.from("{} {}").toString("base64"), undefined],
    ["no text", "", undefined],
    ["no base64", '\\"世界', undefined],
    ["an object that is not in base64", { a: 1 }, { a: 1 }],
  ];
  for (const [name, payload, value] of embedded)
    it(`a member that may hold JSON in base64 has its value: ${name}`, () => {
      const members = { kept: new Set(["a", "payload", "last"]), embedded: new Set(["payload"]) };
      // Some programs write each slash as an escape.
      const written = JSON.stringify({ payload, last: 2 }).replaceAll("/", "\\/").replace("5", "\\u0035");
      for (const size of [1, 2, 3, 5, written.length])
        assert.deepEqual(
          parseSparsely(partsOf(written, size), members, limits),
          { ...(value !== undefined && { payload: value }), last: 2 },
          `in parts of ${size}`,
        );
      const broken = written.replace(/:"?/, "$&\u0001");
      assert.throws(() => parseSparsely(partsOf(broken), members, limits), { name: "SyntaxError" });
    });
});
