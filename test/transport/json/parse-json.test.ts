import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { parseJsonText } from "../../../src/transport/json/parse-json.ts";
import { assertViolations } from "../rest/requests.ts";

const parse = (text: string, maxDepth = 100) => parseJsonText(Buffer.from(text), maxDepth);

describe("parseJsonText", () => {
  it("reads what JSON.parse reads", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) =>
        assert.deepEqual(parse(JSON.stringify(value, null, 1)), JSON.parse(JSON.stringify(value))),
      ),
    );
  });

  it("rejects everything that JSON.parse rejects", () => {
    const text = fc.array(fc.constantFrom("{", "}", "[", "]", '"', "\\", ":", ",", "a", "1", " ", "null"), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(text, (pieces) => {
        const json = pieces.join("");
        let isJson = true;
        try {
          JSON.parse(json);
        } catch {
          isJson = false;
        }
        if (!isJson) assert.throws(() => parse(json), /Invalid argument: body: /);
      }),
      { numRuns: 2000 },
    );
  });

  const twice: [text: string, name: string][] = [
    ['{"a":1,"a":2}', "a"],
    ['{"":1,"":2}', ""],
    ['{ "a" \t\r\n: 1, "a"\n:2}', "a"],
    ['{"a":{"b":1},"a":2}', "a"],
    ['[{"a":[1,{"c":1}],"b":1,"a":2}]', "a"],
    ['{"\\u0061":1,"a":2}', "a"],
    ['{"a\\"":1,"a\\u0022":2}', 'a"'],
    ['{"a\\\\":1,"a\\\\":2}', "a\\"],
    ['{"__proto__":1,"__proto__":2}', "__proto__"],
  ];
  for (const [text, name] of twice) {
    it(`RFC 7493 §2.3: rejects a member twice: ${text}`, () => {
      assertViolations(() => parse(text), `body: must not have the member "${name}" twice`);
    });
  }

  const once = [
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":1}]',
    '{"a":["a","a","a"]}',
    '{"a":"a:","b":"\\"a\\":1"}',
    '{"a":"b","c":"a"}',
    '{"a\\\\":1,"a":2}',
  ];
  for (const text of once)
    it(`takes a member once in each object: ${text}`, () => assert.deepEqual(parse(text), JSON.parse(text)));

  it("counts levels of arrays and objects", () => {
    for (const text of ["{}", "[]", '[1,"[[["]', '{"a":1}']) assert.deepEqual(parse(text, 1), JSON.parse(text));
    for (const text of ["[[]]", "[{}]", '{"a":[]}', '{"a":{}}', "[[", '{"[":{']) {
      assertViolations(() => parse(text, 1), "body: must not be nested deeper than 1 levels");
    }
    assert.deepEqual(parse("[[],[],{}]", 2), [[], [], {}]);
  });

  it("takes 10,000 members in an object, and no more", () => {
    const object = (members: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: members }, (_, i) => [`m${i}`, 0])));
    assert.equal(Object.keys(parse(object(10_000)) as object).length, 10_000);
    assertViolations(() => parse(object(10_001)), "body: must not have more than 10000 members in one object");
  });

  it("takes 200,000 values, and no more", () => {
    const list = (items: number) => `[${"0,".repeat(items - 1)}0]`;
    assert.equal((parse(list(199_999)) as unknown[]).length, 199_999);
    assertViolations(() => parse(list(200_000)), "body: must not hold more than 200000 values");
  });

  it("leaves a wrong escape in a name to the parser", () => {
    assertViolations(() => parse('{"\\x":1}'), "body: is not valid JSON");
  });

  it("RFC 8259 §8.1: rejects a byte order mark and a value that is not UTF-8", () => {
    assertViolations(() => parse("\uFEFF{}"), "body: must not begin with a byte order mark");
    for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0x22, 0xe4, 0x22]]) {
      assertViolations(() => parseJsonText(Uint8Array.from(bytes), 100), "body: must be UTF-8");
    }
  });
});
