import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  create,
  createRegistry,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import { AnySchema, anyPack, FeatureSet_FieldPresence, TimestampSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { GroupSchema, ListGroupsResponseSchema } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { IdentitySchema } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { RawTokenSchema } from "../../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { BadRequestSchema, ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../../gen/google/rpc/status_pb.ts";
import { type JsonOptions, newJsonConverters } from "../../../src/transport/json/encoder.ts";
import { formatTimestamp } from "../../../src/transport/json/format-timestamp.ts";
import { freezeLists, messages } from "../rest/arbitrary.ts";
import { EverythingSchema } from "../rest/exemplar.ts";
import { generatedMethods } from "../rest/methods.ts";

const registry = createRegistry(BadRequestSchema, TimestampSchema);
const replies = newWriters({ registry, zeroValues: true });
const errors = newWriters({ registry, zeroValues: false });

/** As text, which is what goes out. */
function newWriters(options: JsonOptions) {
  const { converter, writer } = newJsonConverters(options);
  return {
    writer: (schema: DescMessage) => (message: Message) => {
      const text = JSON.stringify(converter(schema)(message));
      assert.equal(writer(schema)(message), text);
      // A list that is frozen becomes text once.
      const frozen = freezeLists(message);
      for (let i = 0; i < 2; i++) assert.equal(writer(schema)(frozen), text);
      return text;
    },
  };
}

function everything(json: JsonValue): Message {
  return fromJson(EverythingSchema, json, { registry });
}

/** Returns the writer's JSON of a message with these fields only, without zero values. */
function written(json: JsonValue): JsonValue {
  return JSON.parse(errors.writer(EverythingSchema)(everything(json)));
}

describe("the JSON of a response", () => {
  it("the JSON of a response has zero values of bools, numbers, maps and lists, and nothing else that is not set", () => {
    assert.deepEqual(JSON.parse(replies.writer(GroupSchema)(create(GroupSchema))), {
      resourceLimits: {},
      verified: false,
    });
    assert.deepEqual(JSON.parse(replies.writer(ListGroupsResponseSchema)(create(ListGroupsResponseSchema))), {
      groups: [],
      skipped: 0,
    });
    assert.deepEqual(JSON.parse(replies.writer(RawTokenSchema)(create(RawTokenSchema))), {});
    assert.deepEqual(JSON.parse(replies.writer(EverythingSchema)(create(EverythingSchema))).theInt64, "0");
  });

  it("the JSON of a response has optional scalars and members of a oneof that are set to zero", () => {
    assert.deepEqual(
      JSON.parse(replies.writer(ListGroupsResponseSchema)(create(ListGroupsResponseSchema, { totalCount: 0n }))),
      {
        groups: [],
        totalCount: "0",
        skipped: 0,
      },
    );
    const zeros = { perhapsString: "", perhapsInt64: "0", perhapsColor: "COLOR_UNSPECIFIED" };
    for (const member of [
      { eitherString: "" },
      { eitherBool: false },
      { eitherColor: "COLOR_UNSPECIFIED" },
      { eitherChild: {} },
    ]) {
      assert.deepEqual(written({ ...zeros, ...member }), { ...zeros, ...member });
    }
  });

  it("the JSON of a response has the members of a group in the order of their numbers", () => {
    const group = create(GroupSchema, {
      uid: "ab",
      name: 'a "b"',
      resourceLimits: { idps: 3 },
      verified: true,
      createTime: { seconds: 1767225600n, nanos: 0 },
      updateTime: { seconds: 1767225600n, nanos: 783_999_999 },
      kind: 2,
    });
    const json =
      '{"uid":"ab","name":"a \\"b\\"","resourceLimits":{"idps":3},"verified":true,' +
      '"createTime":"2026-01-01T00:00:00.000Z","updateTime":"2026-01-01T00:00:00.783Z","kind":"ORG_KIND_CUSTOMER"}';
    assert.equal(replies.writer(GroupSchema)(group), json);
  });

  it("the JSON of a response has the oneof of an identity among its other fields", () => {
    const relationship = { case: "claimMatch", value: { iss: { case: "issuer", value: "i" } } } as const;
    const json = JSON.parse(replies.writer(IdentitySchema)(create(IdentitySchema, { uid: "ab", relationship })));
    assert.deepEqual(json, { uid: "ab", claimMatch: { issuer: "i", claims: {}, claimPatterns: {} } });
  });

  const same: [rule: string, json: JsonValue][] = [
    ["an explicit JSON name", { own_name_in_json: "a" }],
    [
      "64-bit integers as text",
      { theInt64: "-9223372036854775808", theUint64: "18446744073709551615", textInt64: "5" },
    ],
    ["numbers", { theInt32: -5, theUint32: 4294967295, theDouble: 1e21, theFloat: 0.5 }],
    ["unusual numbers", { manyDouble: ["NaN", "Infinity", "-Infinity"] }],
    ["bytes as padded base64", { theBytes: "/+k=" }],
    ["enums as names", { theColor: "COLOR_RED", manyColor: ["COLOR_UNSPECIFIED", "COLOR_BLUE"] }],
    ["empty items of lists", { manyString: ["", "a"], manyChild: [{}, {}] }],
    ["strings that need escapes", { theString: 'a"\\\n\u0000\u2028\u{1f600}\u007fä' }],
    ["names of maps that need escapes", { stringToInt32: { 'a"': 1, "\n": 2, "": 3 } }],
    ["maps with other keys", { int64ToChild: { "-5": { theBool: true } }, boolToColor: { true: "COLOR_RED" } }],
    ["durations", { theDuration: "3600s" }],
    ["durations with fractions", { theDuration: "-0.500s" }],
    ["masks", { theMask: "fooBar,a.bC" }],
    [
      "wrappers, also of zero",
      {
        theStringValue: "",
        theInt64Value: "0",
        theBytesValue: "AA==",
        manyStringValue: ["", "a"],
        eitherStringValue: "",
      },
    ],
    [
      "a Struct, a Value and a ListValue",
      { theStruct: { a: [null, 1] }, manyStruct: [{}], theValue: null, theListValue: [1, "a"] },
    ],
    ["an Empty", { theEmpty: {} }],
    ["an empty Any", { theAny: {} }],
    [
      "an Any of a message",
      { theAny: { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [{ field: "a" }] } },
    ],
    ["an Any of an empty message", { theAny: { "@type": "type.googleapis.com/google.rpc.BadRequest" } }],
    [
      "an Any of a time",
      { theAny: { "@type": "type.googleapis.com/google.protobuf.Timestamp", value: "2026-01-01T00:00:00.000Z" } },
    ],
  ];
  for (const [rule, json] of same) {
    it(`the JSON of a response has ${rule}`, () => assert.deepEqual(written(json), json));
  }

  it("the JSON of a response has the number of an enum value without a name", () => {
    assert.deepEqual(JSON.parse(errors.writer(GroupSchema)(create(GroupSchema, { kind: 99 as 1 }))), { kind: 99 });
  });

  it("the JSON of a response is valid UTF-8 for half a surrogate pair, too", () => {
    assert.equal(errors.writer(GroupSchema)(create(GroupSchema, { name: "\ud800" })), '{"name":"\\ud800"}');
  });

  it("encoding an Any of an unknown type as JSON throws", () => {
    const status = create(StatusSchema, { details: [anyPack(ErrorInfoSchema, create(ErrorInfoSchema))] });
    assert.throws(
      () => errors.writer(StatusSchema)(status),
      /no schema for type\.googleapis\.com\/google\.rpc\.ErrorInfo/,
    );
  });
});

describe("formatTimestamp", () => {
  const cases: [millis: number, text: string][] = [
    [0, "1970-01-01T00:00:00.000Z"],
    [-1, "1969-12-31T23:59:59.999Z"],
    [1, "1970-01-01T00:00:00.001Z"],
    [86_399_999, "1970-01-01T23:59:59.999Z"],
    [86_400_000, "1970-01-02T00:00:00.000Z"],
    [Date.UTC(2024, 1, 29, 9, 5, 7, 45), "2024-02-29T09:05:07.045Z"],
    [Date.parse("0001-01-01T00:00:00.000Z"), "0001-01-01T00:00:00.000Z"],
    [Date.parse("9999-12-31T23:59:59.999Z"), "9999-12-31T23:59:59.999Z"],
  ];
  for (const [millis, text] of cases)
    it(`formatTimestamp writes ${text}`, () => assert.equal(formatTimestamp(millis), text));

  it("formatTimestamp writes the same text as Date, from any day to any other", () => {
    const times = fc.array(fc.integer({ min: -2e12, max: 4e12 }), { minLength: 2, maxLength: 5 });
    fc.assert(
      fc.property(times, (all) =>
        assert.deepEqual(
          all.map(formatTimestamp),
          all.map((millis) => new Date(millis).toISOString()),
        ),
      ),
    );
  });

  it("rejects what no Timestamp holds", () => {
    for (const millis of [
      Date.parse("0001-01-01T00:00:00Z") - 1,
      Date.parse("9999-12-31T23:59:59.999Z") + 1,
      Number.NaN,
    ]) {
      assert.throws(() => formatTimestamp(millis), RangeError);
    }
  });
});

describe("the JSON of any message", async () => {
  const schemas = new Map<string, DescMessage>([[EverythingSchema.typeName, EverythingSchema]]);
  for (const { descriptor } of await generatedMethods()) {
    for (const schema of [descriptor.input, descriptor.output]) schemas.set(schema.typeName, schema);
  }
  for (const schema of schemas.values()) {
    const runs = schema === EverythingSchema ? 200 : 20;
    it(`the JSON of a message is that of protobuf-es, except for our own rules: ${schema.typeName}`, () => {
      fc.assert(
        fc.property(messages(schema, 3), (message) => {
          const plain = plainJson(toJson(schema, message, { registry }));
          const full = plainJson(toJson(schema, message, { registry, alwaysEmitImplicit: true }));
          assert.deepEqual(JSON.parse(errors.writer(schema)(message)), adapt(schema, plain));
          assert.deepEqual(JSON.parse(replies.writer(schema)(message)), adapt(schema, full));
        }),
        { numRuns: runs },
      );
    });
  }
});

/** Returns the library's JSON with three digits in every time, and without empty strings, bytes and unspecified enums. */
function adapt(schema: DescMessage, json: JsonValue): JsonValue {
  if (schema.typeName === TimestampSchema.typeName) return threeDigits(String(json));
  if (schema.typeName === AnySchema.typeName) return adaptAny(json as Record<string, JsonValue>);
  if (schema.typeName.startsWith("google.protobuf.")) return json;
  const object = json as Record<string, JsonValue>;
  const entries = schema.fields.flatMap((field): [string, JsonValue][] => {
    const value = object[field.jsonName];
    const isPlain =
      field.presence === FeatureSet_FieldPresence.IMPLICIT &&
      (field.fieldKind === "scalar" || field.fieldKind === "enum");
    if (value === undefined || (isPlain && isLeftOut(field, value))) return [];
    return [[field.jsonName, field.message ? adaptField(field.fieldKind, field.message, value) : value]];
  });
  return Object.fromEntries(entries);
}

/** Adapts the contents of an Any by the same rules; a message with a JSON form of its own is in the member `value`. */
function adaptAny({ "@type": type, ...rest }: Record<string, JsonValue>): JsonValue {
  if (type === undefined) return rest;
  const held = registry.getMessage(String(type).replace(/.*\//, ""))!;
  const isWhole = held.typeName.startsWith("google.protobuf.");
  const adapted = isWhole ? { value: adapt(held, rest.value!) } : adapt(held, rest);
  return { "@type": type, ...(adapted as Record<string, JsonValue>) };
}

function isLeftOut(field: DescField, value: JsonValue): boolean {
  return value === "" || value === null || value === field.enum?.values[0]?.name;
}

/** As it comes out of a parser: without negative zero. */
function plainJson(json: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(json));
}

function adaptField(kind: string, schema: DescMessage, json: JsonValue): JsonValue {
  if (kind === "list") return (json as JsonValue[]).map((item) => adapt(schema, item));
  if (kind !== "map") return adapt(schema, json);
  return Object.fromEntries(Object.entries(json as object).map(([key, item]) => [key, adapt(schema, item)]));
}

function threeDigits(text: string): string {
  return text.replace(/(?:\.(\d{3})\d*)?Z$/, (_, digits: string | undefined) => `.${digits ?? "000"}Z`);
}
