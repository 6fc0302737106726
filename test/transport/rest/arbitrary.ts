// Random messages of any type, for properties.
import { create, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import {
  anyPack,
  DurationSchema,
  FieldMaskSchema,
  StructSchema,
  TimestampSchema,
  ValueSchema,
} from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { BadRequestSchema } from "../../../gen/google/rpc/error_details_pb.ts";

/** Messages with some of their fields set, others to what they are anyway. */
export function messages(schema: DescMessage, depth = 2): fc.Arbitrary<Message> {
  return holders(schema, depth).map((holder) => holder.message);
}

/** Texts that could pass for no value are as frequent as all others. One for all: fast-check lists all characters for each. */
const texts = fc.oneof(fc.constantFrom("0", "false", "null"), fc.string({ unit: "binary", maxLength: 10 }));

type Setter = (target: ReflectMessage) => void;

function holders(schema: DescMessage, depth: number): fc.Arbitrary<ReflectMessage> {
  const known = wellKnown(schema);
  if (known) return known.map((message) => reflect(schema, message));
  const setters = schema.fields.filter((field) => depth > 0 || !field.message).map((field) => setter(field, depth - 1));
  return fc.tuple(...setters.map((each) => fc.option(each, { nil: undefined, freq: 3 }))).map((chosen) => {
    const target = reflect(schema);
    for (const set of chosen) set?.(target);
    return target;
  });
}

function setter(field: DescField, depth: number): fc.Arbitrary<Setter> {
  if (field.fieldKind === "list") {
    return fc.array(value(field, depth), { maxLength: 3 }).map((items) => (target) => {
      for (const item of items) target.get(field).add(item);
    });
  }
  if (field.fieldKind === "map") {
    return fc
      .array(fc.tuple(scalar(field.mapKey), value(field, depth)), { maxLength: 3 })
      .map((entries) => (target) => {
        for (const [key, item] of entries) if (key !== "__proto__") target.get(field).set(key, item);
      });
  }
  return value(field, depth).map((item) => (target) => target.set(field, item));
}

function value(field: DescField, depth: number): fc.Arbitrary<unknown> {
  if (field.message) return holders(field.message, depth);
  if (field.enum) return fc.constantFrom(...field.enum.values.map((each) => each.number));
  return scalar(field.scalar);
}

function scalar(type: ScalarType): fc.Arbitrary<unknown> {
  switch (type) {
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.STRING:
      return texts;
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 10 });
    case ScalarType.DOUBLE:
      return fc.double();
    case ScalarType.FLOAT:
      return fc.float();
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return fc.integer();
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return fc.nat();
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    default:
      return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  }
}

const seconds = fc.bigInt({ min: -62135596800n, max: 253402300799n });
const nanos = fc.integer({ min: 0, max: 999_999_999 });
const snakePath = fc.stringMatching(/^[a-z]{1,3}(_[a-z]{1,3})?(\.[a-z]{1,3})?$/);

function wellKnown(schema: DescMessage): fc.Arbitrary<Message> | undefined {
  switch (schema.typeName) {
    case TimestampSchema.typeName:
      return fc.record({ seconds, nanos }).map((init) => create(TimestampSchema, init));
    case DurationSchema.typeName:
      return fc
        .record({ seconds: fc.bigInt({ min: 0n, max: 10n ** 9n }), nanos })
        .map((init) => create(DurationSchema, init));
    case FieldMaskSchema.typeName:
      return fc.array(snakePath, { maxLength: 3 }).map((paths) => create(FieldMaskSchema, { paths }));
    case StructSchema.typeName:
      return fc.constant(
        create(StructSchema, { fields: { a: create(ValueSchema, { kind: { case: "numberValue", value: 1 } }) } }),
      );
    case ValueSchema.typeName:
      return fc.constant(create(ValueSchema, { kind: { case: "stringValue", value: 'a"b' } }));
    case "google.protobuf.Any":
      return fc
        .string()
        .map((field) => anyPack(BadRequestSchema, create(BadRequestSchema, { fieldViolations: [{ field }] })));
    default:
      return undefined;
  }
}

/** Returns the message with all its lists frozen. */
export function freezeLists(message: Message): Message {
  const fields = Object.entries(message).map(([name, value]) => [
    name,
    Array.isArray(value) ? Object.freeze([...value]) : value,
  ]);
  return Object.assign(Object.create(Object.getPrototypeOf(message)), Object.fromEntries(fields));
}
