// Lenient reading: what becomes of members that are not as their format says.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { AdvisoryRecordSchema } from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { type Members, readItem } from "../../src/advisories/document.ts";
import { canonicalJson, extraOf, extraProblem, parseExtra } from "../../src/advisories/extra.ts";
import { parseTime, timestampText } from "../../src/advisories/times.ts";
import { parseExactly } from "../../src/base/json.ts";

/** Reads one record, and returns the result and the reported problems. */
function reading<T>(json: string, read: (record: Members) => T): { read?: T; problems: string[]; isRecord: boolean } {
  let seen: T | undefined;
  const { record, problems } = readItem("r", parseExactly(json), (members) => {
    seen = read(members);
    return create(AdvisoryRecordSchema);
  });
  const texts = problems.map(({ path, rule }) => `${path}: ${rule}`);
  return { ...(seen === undefined ? {} : { read: seen }), problems: texts, isRecord: record !== undefined };
}

describe("lenient reading", () => {
  const cases: readonly (readonly [string, string, (record: Members) => unknown, unknown, string?])[] = [
    ["a text", '{"a":"b"}', (r) => r.text("a"), "b"],
    ["a text that is absent", "{}", (r) => r.text("a"), ""],
    ["a text that is null", '{"a":null}', (r) => r.text("a"), ""],
    ["a number for a text", '{"a":1.0}', (r) => r.text("a"), "", "a: must be a text"],
    [
      "half a character",
      '{"a":"\\ud800"}',
      (r) => r.text("a"),
      "",
      "a: must be well-formed Unicode without the character NUL",
    ],
    [
      "the character NUL",
      '{"a":"\\u0000"}',
      (r) => r.text("a"),
      "",
      "a: must be well-formed Unicode without the character NUL",
    ],
    ["texts", '{"a":["b",2,"c"]}', (r) => r.texts("a", 4), ["b", "c"], "a[1]: must be a text"],
    ["an empty text", '{"a":["b",""]}', (r) => r.texts("a"), ["b"], "a[1]: must not be empty"],
    ["a text for a list", '{"a":"b"}', (r) => r.texts("a"), [], "a: must be a list"],
    ["a long list", '{"a":[1,2]}', (r) => r.list("a", 1), [], "a: has 2 items, more than the limit of 1"],
    ["objects", '{"a":[{"b":"c"},3]}', (r) => r.objects("a").map((o) => o.text("b")), ["c"], "a[1]: must be an object"],
    ["a number that is kept as it is", '{"a":1.0}', (r) => r.object("a"), undefined, "a: must be an object"],
    ["an object", '{"a":{"b":"c"}}', (r) => r.object("a")?.text("b"), "c"],
    [
      "a path",
      '{"a":[{},{"b":{"c":1}}]}',
      (r) => r.objects("a")[1]?.object("b")?.text("c"),
      "",
      "a[1].b.c: must be a text",
    ],
    [
      "a flag",
      '{"a":true,"b":"true","c":"false"}',
      (r) => ["a", "b", "c", "d"].map((n) => r.flag(n)),
      [true, true, false, false],
    ],
    ["a number for a flag", '{"a":1}', (r) => r.flag("a"), false, "a: must be true or false"],
    ["a time", '{"a":"2030-01-01T00:00:00Z"}', (r) => r.time("a")?.milliseconds, Date.UTC(2030, 0)],
    ["a day that does not exist", '{"a":"2030-02-30"}', (r) => r.time("a"), undefined, "a: must be a time of RFC 3339"],
    ["members that nothing has read", '{"a":"b","c":[1],"d":null}', (r) => [r.text("a"), r.rest()], ["b", { c: [1] }]],
    ["members of the prototype", '{"a":{}}', (r) => r.object("a")?.value("constructor"), undefined],
    [
      "what is nested deeply",
      `{"a":${"[".repeat(999)}${"]".repeat(999)},"b":1}`,
      (r) => r.rest(),
      { b: 1 },
      "a: is nested more than 64 deep",
    ],
  ];
  for (const [name, json, read, expected, problem] of cases) {
    it(name, () => {
      const found = reading(json, read);
      assert.deepEqual(found.read, expected);
      assert.deepEqual(found.problems, problem === undefined ? [] : [problem]);
      assert.ok(found.isRecord);
    });
  }

  it("a record without a required member is left out, with the reason", () => {
    for (const json of ["{}", '{"a":""}', '{"a":null}'])
      assert.deepEqual(
        reading(json, (r) => r.requiredText("a")),
        { problems: ["a: is missing"], isRecord: false },
      );
    assert.deepEqual(reading('{"a":"b"}', (r) => r.requiredTime("a")).problems, ["a: must be a time of RFC 3339"]);
    assert.deepEqual(reading("1.0", (r) => r.text("a")).problems, [": must be an object"]);
  });

  it("reports of many problems the first ones and the number of the rest", () => {
    const { problems } = reading(JSON.stringify({ a: Array.from({ length: 10_000 }, () => 1) }), (r) => r.texts("a"));
    assert.deepEqual([problems.length, problems.at(-1)], [101, ": has 9900 more problems"]);
  });
});

describe("times of documents", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z", ""],
    ["1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.9999Z"],
    ["2030-01-01T02:00:00.123456789+02:00", "2030-01-01T00:00:00.123Z", "2030-01-01T02:00:00.123456789+02:00"],
    ["2030-01-01T02:00:00+0200", "2030-01-01T00:00:00Z", "2030-01-01T02:00:00+0200"],
    ["2030-01-01t00:00:00z", "2030-01-01T00:00:00Z", "2030-01-01t00:00:00z"],
    ["2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z", "2016-12-31T23:59:60Z"],
    ["2030-01-01 00:00", "2030-01-01T00:00:00Z", "2030-01-01 00:00"],
    ["2030-01-01", "2030-01-01T00:00:00Z", "2030-01-01"],
  ];
  for (const [text, written, raw] of cases) {
    it(text, () => {
      const time = parseTime(text);
      assert.deepEqual(time && [timestampText(time.timestamp), time.raw], [written, raw]);
    });
  }

  it("rejects other texts as times", () => {
    const wrong = ["2030-13-01T00:00:00Z", "2030-02-29T00:00:00Z", "2030-01-01T24:00:00Z", "0000-01-01T00:00:00Z"];
    for (const text of [...wrong, "9999-12-31T23:59:59-01:00", "1 January 2030", "2030", ""])
      assert.equal(parseTime(text), undefined, text);
  });
});

describe("extra", () => {
  it("extra members are written as JSON with sorted names, without those that are undefined", () => {
    assert.equal(extraOf({ b: [undefined, { d: 1, c: "é" }], a: undefined }), '{"b":[null,{"c":"é","d":1}]}');
    assert.equal(extraOf({ a: undefined }), "");
  });

  it("keeps numbers, and members such as __proto__, as they were written", () => {
    const text = '{"__proto__":{"a":1.0},"constructor":12345678901234567890}';
    assert.equal(canonicalJson(parseExtra(text)), text);
    assert.equal(Object.getPrototypeOf(parseExtra(text)), Object.prototype);
    assert.deepEqual(parseExtra(""), {});
  });

  it("an extra from a request is checked", () => {
    for (const text of ["", "{}", '{"a":[{"b":1.0}]}']) assert.equal(extraProblem(text), "");
    for (const text of ["[]", "1", "1.0", "{", "null"]) assert.equal(extraProblem(text), "must be a JSON object");
    assert.equal(extraProblem(`{"a":${"[".repeat(99)}${"]".repeat(99)}}`), "is nested more than 65 deep");
    assert.match(extraProblem('{"a":1,"a":2}'), /^has a member twice/);
  });
});
