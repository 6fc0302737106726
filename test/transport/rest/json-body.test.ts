import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  create,
  createRegistry,
  type DescMethodUnary,
  equals,
  fromJsonString,
  isMessage,
  type JsonValue,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import fc from "fast-check";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { IdentitiesService } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { BadRequestSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { messages } from "./arbitrary.ts";
import { EverythingSchema, methodWithRule } from "./exemplar.ts";
import { asJson, assertViolations, bind } from "./requests.ts";

const whole = methodWithRule({ pattern: { case: "post", value: "/whole" }, body: "*" });
const update = methodWithRule(
  { pattern: { case: "patch", value: "/things/{thing.the_string=**}" }, body: "thing" },
  "UpdateRequest",
);
const batch = methodWithRule(
  { pattern: { case: "post", value: "/batch/{parent=**}" }, body: "things" },
  "BatchRequest",
);

function fromBody(body: string): JsonValue {
  return asJson(whole, bind([whole], "POST /whole", body));
}

describe("a JSON body", () => {
  const read: [rule: string, body: string, message: JsonValue][] = [
    ["an empty object", "{}", {}],
    ["white space around it", " \t\r\n{ }\n", {}],
    ["proto names", '{"the_int32":5}', { the_int32: 5 }],
    ["JSON names", '{"theInt32":5}', { the_int32: 5 }],
    ["explicit JSON names", '{"own_name_in_json":"a"}', { own_name: "a" }],
    ["names with escapes", '{"\\u0074heInt32":5}', { the_int32: 5 }],
    [
      "null as unset",
      '{"theInt32":null,"theChild":null,"manyString":null,"stringToInt32":null,"perhapsString":null,"theTimestamp":null}',
      {},
    ],
    ["zero values with presence", '{"perhapsString":"","perhapsInt64":0}', { perhaps_string: "", perhaps_int64: "0" }],
    ["int64 as text", '{"theInt64":"-9223372036854775808"}', { the_int64: "-9223372036854775808" }],
    ["int64 as a number", '{"theInt64":9007199254740991}', { the_int64: "9007199254740991" }],
    ["int64 kept as text", '{"textInt64":5}', { text_int64: "5" }],
    ["int64 as text with an exponent", '{"theInt64":"9.223372036854775807E+18"}', { the_int64: "9223372036854775807" }],
    ["int32 as text with a fraction of nothing", '{"theInt32":"-5.00"}', { the_int32: -5 }],
    ["int32 as text with an exponent that takes zeros away", '{"theInt32":"500e-2"}', { the_int32: 5 }],
    ["zero as text, however it is raised", '{"perhapsInt64":"-0.0e999"}', { perhaps_int64: "0" }],
    ["int32 as text", '{"theInt32":"5"}', { the_int32: 5 }],
    ["a whole number with an exponent", '{"theInt32":1e3}', { the_int32: 1000 }],
    ["negative zero", '{"perhapsInt64":-0}', { perhaps_int64: "0" }],
    ["doubles", '{"manyDouble":[1.5,"NaN","-Infinity","2.5"]}', { many_double: [1.5, "NaN", "-Infinity", 2.5] }],
    ["enums by name and number", '{"manyColor":["COLOR_RED",2]}', { many_color: ["COLOR_RED", "COLOR_BLUE"] }],
    ["bytes in both alphabets", '{"manyBytes":["/+k=","_-k"]}', { many_bytes: ["/+k=", "/+k="] }],
    ["times", '{"manyTimestamp":["2026-01-31t12:00:00z"]}', { many_timestamp: ["2026-01-31T12:00:00Z"] }],
    [
      "the longest duration",
      '{"theDuration":"-315576000000.999999999s"}',
      { the_duration: "-315576000000.999999999s" },
    ],
    ["durations", '{"theDuration":"-3600.5s"}', { the_duration: "-3600.500s" }],
    ["masks in both spellings", '{"theMask":"fooBar,foo_baz"}', { the_mask: "fooBar,fooBaz" }],
    ["wrappers", '{"theStringValue":"","manyStringValue":["a"]}', { the_string_value: "", many_string_value: ["a"] }],
    ["a Struct", '{"theStruct":{"a":[1,null,{"b":true}]}}', { the_struct: { a: [1, null, { b: true }] } }],
    ["a null Value", '{"theValue":null}', { the_value: null }],
    ["a null NullValue", '{"theNullValue":null}', {}],
    [
      "an Any of a known type",
      '{"theAny":{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"a"}]}}',
      { the_any: { "@type": "type.googleapis.com/google.rpc.BadRequest", field_violations: [{ field: "a" }] } },
    ],
    [
      "maps",
      '{"stringToInt32":{"a":1,"":2},"int64ToChild":{"-5":{"theBool":true}},"boolToColor":{"true":1}}',
      {
        string_to_int32: { a: 1, "": 2 },
        int64_to_child: { "-5": { the_bool: true } },
        bool_to_color: { true: "COLOR_RED" },
      },
    ],
    [
      "one member of a oneof with nulls for the others",
      '{"eitherString":null,"eitherBool":false,"eitherChild":null}',
      { either_bool: false },
    ],
    ["messages in messages", '{"theChild":{"theChild":{}}}', { the_child: { the_child: {} } }],
    [
      "F6: constructor as text",
      '{"theString":"constructor","stringToInt32":{"constructor":1,"toString":2}}',
      { the_string: "constructor", string_to_int32: { constructor: 1, toString: 2 } },
    ],
  ];
  for (const [rule, body, message] of read) {
    it(`reads ${rule}`, () => assert.deepEqual(fromBody(body), message));
  }

  const unknown = (name: string) => `could not find field "${name}" in "exemplar.Everything"`;
  const refused: [rule: string, body: string, ...violations: string[]][] = [
    ["what is not JSON", "{theInt32:5}", "body: is not valid JSON"],
    ["half a JSON text", '{"theInt32":', "body: is not valid JSON"],
    ["half a string", '{"theString":"a', "body: is not valid JSON"],
    ["something after the object", "{}{}", "body: is not valid JSON"],
    ["F5: NaN", '{"theInt32":NaN}', "body: is not valid JSON"],
    ["F5: Infinity", '{"theDouble":Infinity}', "body: is not valid JSON"],
    ["F5: a byte order mark", "\uFEFF{}", "body: must not begin with a byte order mark"],
    ["an array", "[]", "body: must be a JSON object"],
    ["a string", '"a"', "body: must be a JSON object"],
    ["null", "null", "body: must be a JSON object"],
    ["a member twice", '{"theInt32":1,"theInt32":1}', 'body: must not have the member "theInt32" twice'],
    ["a member twice, once escaped", '{"a":1,"\\u0061":1}', 'body: must not have the member "a" twice'],
    [
      "a member twice deep inside",
      '{"theStruct":{"a":[{"b":1 , "b" :2}]}}',
      'body: must not have the member "b" twice',
    ],
    ["both names of a field", '{"theInt32":1,"the_int32":1}', "the_int32: must not be given twice"],
    ["both names of a field, one null", '{"theInt32":null,"the_int32":1}', "the_int32: must not be given twice"],
    [
      "two members of a oneof",
      '{"eitherString":"a","eitherBool":true}',
      "either_bool: must not be set together with either_string",
    ],
    ["an unknown member", '{"nope":1}', `nope: ${unknown("nope")}`],
    ["an unknown member that is null", '{"nope":null}', `nope: ${unknown("nope")}`],
    ["an unknown member in a message", '{"theChild":{"nope":1}}', `the_child.nope: ${unknown("nope")}`],
    ["an unknown member in a list", '{"manyChild":[{},{"nope":1}]}', `many_child[1].nope: ${unknown("nope")}`],
    ["an unknown member in a map", '{"int64ToChild":{"5":{"nope":1}}}', `int64_to_child["5"].nope: ${unknown("nope")}`],
    ["F6: __proto__", '{"__proto__":{"admin":true}}', `__proto__: ${unknown("__proto__")}`],
    [
      "F6: constructor.prototype",
      '{"constructor":{"prototype":{"admin":true}}}',
      `constructor: ${unknown("constructor")}`,
    ],
    [
      "F6: __proto__ as the key of a map",
      '{"stringToInt32":{"__proto__":1}}',
      'string_to_int32["__proto__"]: is not allowed as a key',
    ],
    ["text for a bool", '{"theBool":"true"}', "the_bool: must be true or false"],
    ["a number for a bool", '{"theBool":1}', "the_bool: must be true or false"],
    ["a number for a string", '{"theString":1}', "the_string: must be a string"],
    ["an object for a string", '{"theString":{}}', "the_string: must be a string"],
    ["half a surrogate pair", '{"theString":"\\ud800"}', "the_string: must be well-formed Unicode"],
    ["a bool for an int32", '{"theInt32":true}', "the_int32: must be a number"],
    ["a fraction for an int32", '{"theInt32":1.5}', "the_int32: must be an int32"],
    ["an int32 that is too large", '{"theInt32":2147483648}', "the_int32: is out of range for int32"],
    ["F4: a number that is too large for a double", '{"theInt32":1e999}', "the_int32: must be an int32"],
    [
      "an int64 that JSON numbers do not hold",
      '{"theInt64":9007199254740993}',
      "the_int64: is too large for a JSON number; send it as a string",
    ],
    ["a fraction as text for an integer", '{"theInt32":"1.5"}', "the_int32: must be an int32"],
    ["a fraction as text by its exponent", '{"theInt64":"15e-1"}', "the_int64: must be an int64"],
    ["an exponent beyond the range", '{"theInt64":"1e19"}', "the_int64: is out of range for int64"],
    ["an exponent beyond everything", '{"theInt64":"1e999999999999"}', "the_int64: is out of range for int64"],
    ["an exponent without a number", '{"theInt32":"e3"}', "the_int32: must be an int32"],
    ["digits without end", `{"theInt64":"${"9".repeat(10000)}"}`, "the_int64: is out of range for int64"],
    ["zeros without end", `{"theInt64":"1.${"0".repeat(10000)}"}`, "the_int64: must be an int64"],
    ["F5: NaN as text for an integer", '{"theInt32":"NaN"}', "the_int32: must be an int32"],
    ["F4: a double that is too large", '{"theDouble":1e999}', "the_double: is out of range"],
    ["an unknown enum value", '{"theColor":"GREEN"}', 'the_color: "GREEN" is not a value of exemplar.Color'],
    ["a bool for an enum", '{"theColor":true}', "the_color: must be the name of an enum value"],
    ["an object for a list", '{"manyString":{}}', "many_string: must be an array"],
    ["null in a list", '{"manyString":["a",null]}', "many_string[1]: must be a string"],
    ["null in a list of messages", '{"manyChild":[null]}', "many_child[0]: must be an object"],
    ["an array for a map", '{"stringToInt32":[]}', "string_to_int32: must be an object"],
    ["null in a map", '{"stringToInt32":{"a":null}}', 'string_to_int32["a"]: must be a number'],
    [
      "a key of a map in two spellings",
      '{"int64ToChild":{"1":{},"01":{}}}',
      'int64_to_child["01"]: must not be given twice',
    ],
    ["an exponent in the key of a map", '{"int64ToChild":{"1e3":{}}}', 'int64_to_child["1e3"]: must be an int64'],
    ["a wrong key of a map", '{"int64ToChild":{"a":{}}}', 'int64_to_child["a"]: must be an int64'],
    ["a wrong bool key of a map", '{"boolToColor":{"1":1}}', 'bool_to_color["1"]: must have the key true or false'],
    ["an array for a message", '{"theChild":[]}', "the_child: must be an object"],
    ["a number for a time", '{"theTimestamp":5}', "the_timestamp: must be a string"],
    [
      "a day that does not exist",
      '{"theTimestamp":"2026-02-30T00:00:00Z"}',
      "the_timestamp: must be a time that exists",
    ],
    [
      "a duration of a second too much",
      '{"theDuration":"315576000001s"}',
      "the_duration: must not be longer than 10,000 years",
    ],
    ["Go syntax for a duration", '{"theDuration":"1h"}', "the_duration: must be a duration in seconds such as 3600s"],
    ["an object for a mask", '{"theMask":{"paths":[]}}', "the_mask: must be a string"],
    [
      "a number for a StringValue",
      '{"theStringValue":5}',
      "the_string_value: must be the value of a google.protobuf.StringValue",
    ],
    ["a list for a Struct", '{"theStruct":[]}', "the_struct: must be a valid google.protobuf.Struct"],
    [
      "F5: an unknown @type",
      '{"theAny":{"@type":"type.googleapis.com/a.B"}}',
      "the_any: must be a valid google.protobuf.Any",
    ],
    [
      "several problems, all of them",
      '{"nope":1,"theInt32":"x","manyBool":[1]}',
      `nope: ${unknown("nope")}`,
      "the_int32: must be an int32",
      "many_bool[0]: must be true or false",
    ],
  ];
  for (const [rule, body, ...violations] of refused) {
    it(`a JSON body is rejected with ${rule}`, () => assertViolations(() => fromBody(body), ...violations));
  }

  it("F6: a JSON body does not change the prototype of all objects", () => {
    const hostile =
      '{"theStruct":{"__proto__":{"admin":true}},"theChild":{"theStruct":{"constructor":{"prototype":{"admin":true}}}}}';
    bind([whole], "POST /whole", hostile);
    assert.equal(({} as { admin?: boolean }).admin, undefined);
  });

  it("F4: a JSON body may be nested 100 levels deep, and no deeper", () => {
    const nested = (levels: number) => `${'{"theChild":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;
    bind([whole], "POST /whole", nested(100));
    const violation = "body: must not be nested deeper than 100 levels";
    assertViolations(() => bind([whole], "POST /whole", nested(101)), violation);
    assertViolations(() => bind([whole], "POST /whole", "[".repeat(1_000_000)), violation);
  });

  it("a JSON body does not count brackets in strings as levels", () => {
    assert.deepEqual(fromBody(`{"theString":"${"[{".repeat(200)}"}`), { the_string: "[{".repeat(200) });
    assert.deepEqual(fromBody('{"theString":"\\"{\\\\"}'), { the_string: '"{\\' });
  });

  it("a JSON body is empty when absent, so the pipeline reports missing fields", () => {
    assert.deepEqual(asJson(whole, bind([whole], "POST /whole")), {});
    const { createGroup } = GroupsService.method;
    assert.deepEqual(asJson(createGroup, bind([createGroup], "POST /iam/v2beta1/groups")), { group: {} });
  });

  it("a JSON body may be a list where the rule names a repeated field", () => {
    const json = asJson(batch, bind([batch], "POST /batch/a/b", '[{"theInt32":1},{}]'));
    assert.deepEqual(json, { parent: "a/b", things: [{ the_int32: 1 }, {}] });
    assert.deepEqual(asJson(batch, bind([batch], "POST /batch/a")), { parent: "a" });
    assertViolations(() => bind([batch], "POST /batch/a", "{}"), "things: must be an array");
    assertViolations(() => bind([batch], "POST /batch/a", '[{"nope":1}]'), `things[0].nope: ${unknown("nope")}`);
  });

  it("F3: a JSON body does not override the path", () => {
    const json = asJson(update, bind([update], "PATCH /things/a?update_mask=*", '{"theString":"b","theInt32":1}'));
    assert.deepEqual(json, { thing: { the_string: "a", the_int32: 1 }, update_mask: "*" });
  });

  it("names problems by their path in the request", () => {
    assertViolations(() => bind([update], "PATCH /things/a", '{"theInt32":"x"}'), "the_int32: must be an int32");
  });

  it("a JSON body may have unknown members when the request has a mask", () => {
    for (const mask of ["updateMask=theInt32", "update_mask=the_int32"]) {
      const json = asJson(
        update,
        bind([update], `PATCH /things/a?${mask}`, '{"nope":1,"theInt32":1,"theChild":{"nope":1}}'),
      );
      assert.deepEqual(json, { thing: { the_string: "a", the_int32: 1, the_child: {} }, update_mask: "theInt32" });
    }
    assertViolations(() => bind([update], "PATCH /things/a?updateMask=", '{"nope":1}'), `nope: ${unknown("nope")}`);
  });

  it("reads all JSON that protobuf-es writes, as protobuf-es does", () => {
    const registry = createRegistry(EverythingSchema, BadRequestSchema);
    fc.assert(
      fc.property(messages(EverythingSchema), (message) => {
        const text = toJsonString(EverythingSchema, message, { registry });
        const ours = bind([whole], "POST /whole", text);
        const theirs = fromJsonString(EverythingSchema, text, { registry });
        // As bytes, where NaN equals NaN.
        assert.deepEqual(toBinary(EverythingSchema, ours), toBinary(EverythingSchema, theirs));
      }),
      { numRuns: 200 },
    );
  });
});

describe("the bodies of published routes", () => {
  const { createIdentity, updateIdentity } = IdentitiesService.method;
  const cases: [method: DescMethodUnary, request: string, body: string, message: JsonValue][] = [
    [
      GroupsService.method.createGroup,
      "POST /iam/v2beta1/groups/ab/cd",
      '{"name":"n","description":"d"}',
      { parent: "ab/cd", group: { name: "n", description: "d" } },
    ],
    [
      createIdentity,
      "POST /iam/v2beta1/identities/ab",
      '{"name":"n","claimMatch":{"issuer":"i","subject":"s"}}',
      { parent: "ab", identity: { name: "n", claim_match: { issuer: "i", subject: "s" } } },
    ],
    [
      updateIdentity,
      "PATCH /iam/v2beta1/identities/ab?updateMask=*",
      '{"uid":"cd","claim_match":{"issuer":"i"}}',
      { identity: { uid: "ab", claim_match: { issuer: "i" } }, update_mask: "*" },
    ],
  ];
  for (const [method, request, body, message] of cases) {
    it(`binds ${request}`, () => assert.deepEqual(asJson(method, bind([method], request, body)), message));
  }

  it("set one relationship of an identity only", () => {
    const body = '{"claimMatch":{"issuer":"i","issuerPattern":"p"},"staticKeys":{}}';
    assertViolations(
      () => bind([createIdentity], "POST /iam/v2beta1/identities/ab", body),
      "claim_match.issuer_pattern: must not be set together with issuer",
      "static_keys: must not be set together with claim_match",
    );
  });

  it("the bodies of published routes are messages of the generated types", () => {
    const { createGroup } = GroupsService.method;
    const message = bind([createGroup], "POST /iam/v2beta1/groups/ab", '{"name":"n"}');
    assert.ok(isMessage(message, createGroup.input));
    assert.ok(equals(createGroup.input, message, create(createGroup.input, { parent: "ab", group: { name: "n" } })));
  });
});
