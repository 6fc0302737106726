import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DescMethodUnary, JsonValue } from "@bufbuild/protobuf";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { IdentitiesService } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { SecurityTokenService } from "../../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { maxParameters } from "../../../src/transport/rest/query-parameters.ts";
import { methodWithRule } from "./exemplar.ts";
import { asJson, assertViolations, bind } from "./requests.ts";

const get = methodWithRule({ pattern: { case: "get", value: "/everything/{the_child.own_name=**}" } });
const update = methodWithRule(
  { pattern: { case: "patch", value: "/things/{thing.the_string=**}" }, body: "thing" },
  "UpdateRequest",
);
const whole = methodWithRule({ pattern: { case: "post", value: "/whole" }, body: "*" });

/** Returns the fields that the query adds to the message of `GET /everything`. */
function fromQuery(query: string): JsonValue {
  const message = asJson(get, bind([get], `GET /everything?${query}`));
  const { the_child, ...rest } = message as Record<string, JsonValue>;
  const child = { ...(the_child as Record<string, JsonValue>) };
  return Object.keys(child).length > 0 ? { ...rest, the_child: child } : rest;
}

describe("query parameters", () => {
  const bound: [rule: string, query: string, message: JsonValue][] = [
    ["nothing", "", {}],
    ["a proto name", "the_int32=5", { the_int32: 5 }],
    ["a JSON name", "theInt32=5", { the_int32: 5 }],
    ["an explicit JSON name", "own_name_in_json=a", { own_name: "a" }],
    ["a nested path", "the_child.the_child.the_bool=true", { the_child: { the_child: { the_bool: true } } }],
    [
      "a nested path in mixed spelling",
      "theChild.the_int32=1&the_child.theBool=1",
      { the_child: { the_int32: 1, the_bool: true } },
    ],
    ["a repeated field", "many_string=a&manyString=b&many_string=", { many_string: ["a", "b", ""] }],
    ["a repeated enum", "many_color=COLOR_RED&many_color=2", { many_color: ["COLOR_RED", "COLOR_BLUE"] }],
    ["a comma is part of a repeated value", "many_string=a,b", { many_string: ["a,b"] }],
    ["an enum by name", "the_color=COLOR_BLUE", { the_color: "COLOR_BLUE" }],
    ["an enum by number", "the_color=1", { the_color: "COLOR_RED" }],
    ["an enum by a number without a name", "the_color=7", { the_color: 7 }],
    ...["true", "t", "1"].map((text): [string, string, JsonValue] => [
      "a bool that is true",
      `the_bool=${text}`,
      { the_bool: true },
    ]),
    ...["false", "f", "0"].map((text): [string, string, JsonValue] => [
      "a bool that is false",
      `either_bool=${text}`,
      { either_bool: false },
    ]),
    ["the least int32", "the_int32=-2147483648", { the_int32: -2147483648 }],
    ["the largest int32", "the_sint32=2147483647", { the_sint32: 2147483647 }],
    ["the largest uint32", "the_uint32=4294967295", { the_uint32: 4294967295 }],
    ["the least int64", "the_int64=-9223372036854775808", { the_int64: "-9223372036854775808" }],
    ["the largest uint64", "the_uint64=18446744073709551615", { the_uint64: "18446744073709551615" }],
    ["an int64 kept as text", "text_int64=9007199254740993", { text_int64: "9007199254740993" }],
    ["a double", "the_double=-1.5e3", { the_double: -1500 }],
    ["an infinite double", "the_double=-Infinity", { the_double: "-Infinity" }],
    ["a string with escapes", "the_string=a%20b%26c%3D%C3%A4", { the_string: "a b&c=ä" }],
    ["a plus is a space", "the_string=a+b%2Bc", { the_string: "a b+c" }],
    ["a bare space", "the_string=a b", { the_string: "a b" }],
    ["an equals sign in a value", "the_string=a=b", { the_string: "a=b" }],
    ["an escaped name", "the%5Fstring=a", { the_string: "a" }],
    ["a name without value", "the_string", {}],
    ["an empty value with presence", "perhaps_string=", { perhaps_string: "" }],
    ["empty pairs", "&&the_int32=1&", { the_int32: 1 }],
    ["bytes in base64", "the_bytes=/%2Bk%3D", { the_bytes: "/+k=" }],
    ["bytes in base64url without padding", "the_bytes=_-k", { the_bytes: "/+k=" }],
    ["a time", "the_timestamp=2026-01-31T12:00:00.5Z", { the_timestamp: "2026-01-31T12:00:00.500Z" }],
    ["a time in JSON quotes", "the_timestamp=%222026-01-31T12:00:00Z%22", { the_timestamp: "2026-01-31T12:00:00Z" }],
    ["a time with an offset", "the_timestamp=2026-01-31T12:00:00%2B02:30", { the_timestamp: "2026-01-31T09:30:00Z" }],
    ["a time before the epoch", "the_timestamp=1969-12-31T23:59:59.9Z", { the_timestamp: "1969-12-31T23:59:59.900Z" }],
    ["a duration in seconds", "the_duration=3600s", { the_duration: "3600s" }],
    ["a negative duration", "the_duration=-1.5s", { the_duration: "-1.500s" }],
    ["a duration in Go syntax", "the_duration=1h30m0.5s", { the_duration: "5400.500s" }],
    ["a short duration in Go syntax", "the_duration=-1ms2us3ns", { the_duration: "-0.001002003s" }],
    ["a mask in camel and snake case", "the_mask=fooBar,foo_baz,,%20a.bC", { the_mask: "fooBar,fooBaz,a.bC" }],
    ["a wrapper", "the_string_value=&the_int64_value=5", { the_string_value: "", the_int64_value: "5" }],
  ];
  for (const [rule, query, message] of bound) {
    it(`bind ${rule}: ${query}`, () => assert.deepEqual(fromQuery(query), message));
  }

  const refused: [rule: string, query: string, violation: string][] = [
    ["an unknown name", "nope=1", "nope: is not a parameter of this method"],
    ["an unknown name in a message", "the_child.nope=1", "the_child.nope: is not a parameter of this method"],
    ["a name below a scalar", "the_string.a=1", "the_string.a: is not a parameter of this method"],
    [
      "a name inside a google.protobuf message",
      "the_timestamp.seconds=1",
      "the_timestamp.seconds: is not a parameter of this method",
    ],
    ["a name in another case", "The_String=a", "The_String: is not a parameter of this method"],
    ["an empty name", "=1", "query: is not a parameter of this method"],
    ["F6: __proto__", "__proto__=1", "__proto__: is not a parameter of this method"],
    ["F6: __proto__ along a path", "__proto__.admin=1", "__proto__.admin: is not a parameter of this method"],
    [
      "F6: constructor.prototype",
      "constructor.prototype.admin=1",
      "constructor.prototype.admin: is not a parameter of this method",
    ],
    ["F6: __proto__ in a message", "the_child.__proto__=1", "the_child.__proto__: is not a parameter of this method"],
    ["a field of the path", "the_child.own_name=a", "the_child.own_name: is given by the path"],
    ["a field of the path by its JSON name", "theChild.own_name_in_json=a", "the_child.own_name: is given by the path"],
    ["a singular field twice", "the_int32=1&theInt32=1", "the_int32: must not be given twice"],
    ["an optional field twice", "perhaps_string=&perhaps_string=", "perhaps_string: must not be given twice"],
    [
      "two members of a oneof",
      "either_string=a&either_bool=t",
      "either_bool: must not be set together with either_string",
    ],
    [
      "two members of a oneof, one by its fields",
      "either_child.the_int32=1&either_bool=t",
      "either_bool: must not be set together with either_child",
    ],
    ["P7: an int32 with something after it", "the_int32=5abc", "the_int32: must be an int32"],
    ["an empty int32", "the_int32=", "the_int32: must be an int32"],
    ["a fraction for an int32", "the_int32=1.0", "the_int32: must be an int32"],
    ["an exponent for an int32", "the_int32=1e3", "the_int32: must be an int32"],
    ["hexadecimal for an int32", "the_int32=0x10", "the_int32: must be an int32"],
    ["an int32 that is too large", "the_int32=2147483648", "the_int32: is out of range for int32"],
    ["an int32 that is too small", "the_sfixed32=-2147483649", "the_sfixed32: is out of range for int32"],
    ["a negative uint32", "the_uint32=-1", "the_uint32: is out of range for uint32"],
    ["an int64 that is too large", "the_int64=9223372036854775808", "the_int64: is out of range for int64"],
    ["a number of 10,000 digits", `the_int64=${"9".repeat(10000)}`, "the_int64: is out of range for int64"],
    ["a uint64 that is too large", "the_fixed64=18446744073709551616", "the_fixed64: is out of range for uint64"],
    ["text for a double", "the_double=1,5", "the_double: must be a number"],
    ["a double that is too large", "the_double=1e309", "the_double: is out of range"],
    ["a float that is too large", "the_float=3.5e38", "the_float: is out of range"],
    ["another word for true", "the_bool=yes", "the_bool: must be true or false"],
    ["an unknown enum name", "the_color=COLOR_GREEN", 'the_color: "COLOR_GREEN" is not a value of exemplar.Color'],
    [
      "an enum number beyond 32 bits",
      "the_color=2147483648",
      'the_color: "2147483648" is not a value of exemplar.Color',
    ],
    ["what is not base64", "the_bytes=a*", "the_bytes: must be base64"],
    ["base64 of no length", "the_bytes=abcde", "the_bytes: must be base64"],
    [
      "a date alone",
      "the_timestamp=2026-01-31",
      "the_timestamp: must be an RFC 3339 time such as 2026-01-31T12:00:00Z",
    ],
    [
      "a time without offset",
      "the_timestamp=2026-01-31T12:00:00",
      "the_timestamp: must be an RFC 3339 time such as 2026-01-31T12:00:00Z",
    ],
    ["a day that does not exist", "the_timestamp=2026-02-30T12:00:00Z", "the_timestamp: must be a time that exists"],
    ["an hour that does not exist", "the_timestamp=2026-02-20T25:00:00Z", "the_timestamp: must be a time that exists"],
    ["the year 0", "the_timestamp=0000-01-01T00:00:00Z", "the_timestamp: must lie between the years 1 and 9999"],
    [
      "the year 10000 by its offset",
      "the_timestamp=9999-12-31T23:59:59-00:01",
      "the_timestamp: must lie between the years 1 and 9999",
    ],
    ["a number for a duration", "the_duration=3600", "the_duration: must be a duration in seconds such as 3600s"],
    ["another unit for a duration", "the_duration=1d", "the_duration: must be a duration in seconds such as 3600s"],
    ["a duration that is too long", "the_duration=315576000001s", "the_duration: must not be longer than 10,000 years"],
    [
      "a duration that is too long in Go syntax",
      "the_duration=99999999999h",
      "the_duration: must not be longer than 10,000 years",
    ],
    [
      "a duration of more digits than a number has in Go syntax",
      `the_duration=${"9".repeat(400)}h`,
      "the_duration: must not be longer than 10,000 years",
    ],
    ["a message", "the_child=a", "the_child: is a message; give its fields, or use another encoding"],
    ["a Struct", "the_struct=%7B%7D", "the_struct: is a message; give its fields, or use another encoding"],
    ["a map", "string_to_int32=1", "string_to_int32: cannot be given in a query"],
    ["a malformed escape", "the_string=%zz", "query: has a malformed percent-escape"],
    ["an escape that is not UTF-8", "the_string=%ff", "query: has a malformed percent-escape"],
    ["a malformed escape in a name", "%zz=a", "query: has a malformed percent-escape"],
  ];
  for (const [rule, query, violation] of refused) {
    it(`reject ${rule}: ${query.slice(0, 60)}`, () => assertViolations(() => fromQuery(query), violation));
  }

  it("report all violations at once", () => {
    assertViolations(
      () => fromQuery("nope=1&the_int32=x&the_bool=x"),
      "nope: is not a parameter of this method",
      "the_int32: must be an int32",
      "the_bool: must be true or false",
    );
  });

  it("report no more than 20 violations", () => {
    const query = Array.from({ length: 500 }, (_, i) => `nope${i}=1`).join("&");
    const expected = Array.from({ length: 20 }, (_, i) => `nope${i}: is not a parameter of this method`);
    assertViolations(() => fromQuery(query), ...expected);
  });

  it("repeat no more than 100 characters of a name", () => {
    assertViolations(
      () => fromQuery(`${"n".repeat(5000)}=1`),
      `${"n".repeat(200)}…: is not a parameter of this method`,
    );
  });

  it(`are at most ${maxParameters}`, () => {
    const query = (count: number) => Array.from({ length: count }, () => "many_string=a").join("&");
    assert.deepEqual(fromQuery(query(maxParameters)), {
      many_string: Array.from({ length: maxParameters }, () => "a"),
    });
    assertViolations(() => fromQuery(query(maxParameters + 1)), "query: must not have more than 1000 parameters");
  });

  it("cannot reach into the body", () => {
    const violation = "thing.the_int32: is given by the body";
    assertViolations(() => bind([update], "PATCH /things/a?thing.the_int32=1", "{}"), violation);
    assertViolations(
      () => bind([update], "PATCH /things/a?thing.the_string=b", "{}"),
      "thing.the_string: is given by the path",
    );
    assert.deepEqual(asJson(update, bind([update], "PATCH /things/a?note=b", "{}")), {
      thing: { the_string: "a" },
      update_mask: "",
      note: "b",
    });
  });

  it("query parameters are unknown if the body is the whole request", () => {
    assertViolations(
      () => bind([whole], "POST /whole?the_int32=1", "{}"),
      "the_int32: is not a parameter of this method",
    );
  });
});

describe("query parameters of published routes", () => {
  const { listGroups } = GroupsService.method;
  const cases: [method: DescMethodUnary, request: string, message: JsonValue][] = [
    [
      listGroups,
      "GET /iam/v2beta1/groups?uidp.descendants_of=ab&page_size=5&orderBy=name%20desc&skip=10",
      { uidp: { descendants_of: "ab" }, page_size: 5, order_by: "name desc", skip: 10 },
    ],
    [
      listGroups,
      "GET /iam/v2beta1/groups?uidp.childrenOf=ab&pageSize=5&order_by=name+desc&pageToken=t",
      { uidp: { children_of: "ab" }, page_size: 5, order_by: "name desc", page_token: "t" },
    ],
    [
      listGroups,
      "GET /iam/v2beta1/groups?uidp.ids=a&uidp.inRoot=true&uidp.ids=b&name=n",
      { uidp: { ids: ["a", "b"], in_root: true }, name: "n" },
    ],
    [
      IdentitiesService.method.listIdentities,
      "GET /iam/v2beta1/identities?relationship_type=RELATIONSHIP_TYPE_STATIC",
      { relationship_type: "RELATIONSHIP_TYPE_STATIC" },
    ],
    [
      SecurityTokenService.method.exchange,
      "GET /sts/exchange?aud=a&aud=b&identity=i",
      { aud: ["a", "b"], identity: "i" },
    ],
    [
      SecurityTokenService.method.exchange,
      "POST /sts/exchange?aud=a&identity_provider=p",
      { aud: ["a"], identity_provider: "p" },
    ],
  ];
  for (const [method, request, message] of cases) {
    it(`binds ${request}`, () => assert.deepEqual(asJson(method, bind([method], request)), message));
  }
});
