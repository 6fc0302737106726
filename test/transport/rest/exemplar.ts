// A file of our own with every kind of field, made at run time, so the transport is tested beyond what our protos use.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, createFileRegistry, type DescMessage, type DescMethodUnary, setExtension } from "@bufbuild/protobuf";
import {
  DurationSchema,
  EmptySchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  type FieldDescriptorProtoSchema,
  FieldMaskSchema,
  FieldOptions_JSType,
  FileDescriptorProtoSchema,
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  MethodOptionsSchema,
  TimestampSchema,
} from "@bufbuild/protobuf/wkt";
import { http } from "../../../gen/google/api/annotations_pb.ts";
import { HttpRuleSchema } from "../../../gen/google/api/http_pb.ts";

type FieldInit = MessageInitShape<typeof FieldDescriptorProtoSchema>;
type RuleInit = MessageInitShape<typeof HttpRuleSchema>;

const types = FieldDescriptorProto_Type;
const scalarTypes = {
  double: types.DOUBLE,
  float: types.FLOAT,
  int32: types.INT32,
  sint32: types.SINT32,
  sfixed32: types.SFIXED32,
  uint32: types.UINT32,
  fixed32: types.FIXED32,
  int64: types.INT64,
  sint64: types.SINT64,
  sfixed64: types.SFIXED64,
  uint64: types.UINT64,
  fixed64: types.FIXED64,
  bool: types.BOOL,
  string: types.STRING,
  bytes: types.BYTES,
};

const wellKnown = {
  timestamp: TimestampSchema.typeName,
  duration: DurationSchema.typeName,
  mask: FieldMaskSchema.typeName,
  struct: "google.protobuf.Struct",
  value: "google.protobuf.Value",
  list_value: "google.protobuf.ListValue",
  any: "google.protobuf.Any",
  empty: EmptySchema.typeName,
  null_value: "google.protobuf.NullValue",
  string_value: "google.protobuf.StringValue",
  int64_value: "google.protobuf.Int64Value",
  bytes_value: "google.protobuf.BytesValue",
};

let number = 0;

function field(name: string, init: FieldInit): FieldInit {
  number++;
  return { name, jsonName: toJsonName(name), number, label: FieldDescriptorProto_Label.OPTIONAL, ...init };
}

function toJsonName(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function typed(name: string, typeName: string, init: FieldInit = {}): FieldInit {
  const isEnum = typeName.endsWith("Color") || typeName.endsWith("NullValue");
  return field(name, { type: isEnum ? types.ENUM : types.MESSAGE, typeName: `.${typeName}`, ...init });
}

const repeated = { label: FieldDescriptorProto_Label.REPEATED };
const color = "exemplar.Color";

function mapEntry(name: string, key: number, value: FieldInit) {
  return {
    name,
    options: { mapEntry: true },
    field: [
      { name: "key", jsonName: "key", number: 1, type: key, label: FieldDescriptorProto_Label.OPTIONAL } as FieldInit,
      {
        name: "value",
        jsonName: "value",
        number: 2,
        label: FieldDescriptorProto_Label.OPTIONAL,
        ...value,
      } as FieldInit,
    ],
  };
}

const everything = {
  name: "Everything",
  field: [
    ...Object.entries(scalarTypes).map(([name, type]) => field(`the_${name}`, { type })),
    typed("the_color", color),
    ...Object.entries(wellKnown).map(([name, typeName]) => typed(`the_${name}`, typeName)),
    typed("the_child", "exemplar.Everything"),
    ...Object.entries(scalarTypes).map(([name, type]) => field(`many_${name}`, { type, ...repeated })),
    typed("many_color", color, repeated),
    typed("many_timestamp", wellKnown.timestamp, repeated),
    typed("many_string_value", wellKnown.string_value, repeated),
    typed("many_struct", wellKnown.struct, repeated),
    typed("many_child", "exemplar.Everything", repeated),
    typed("string_to_int32", "exemplar.Everything.StringToInt32Entry", repeated),
    typed("int64_to_child", "exemplar.Everything.Int64ToChildEntry", repeated),
    typed("bool_to_color", "exemplar.Everything.BoolToColorEntry", repeated),
    field("perhaps_string", { type: types.STRING, proto3Optional: true, oneofIndex: 1 }),
    field("perhaps_int64", { type: types.INT64, proto3Optional: true, oneofIndex: 2 }),
    typed("perhaps_color", color, { proto3Optional: true, oneofIndex: 3 }),
    field("either_string", { type: types.STRING, oneofIndex: 0 }),
    field("either_bool", { type: types.BOOL, oneofIndex: 0 }),
    typed("either_color", color, { oneofIndex: 0 }),
    typed("either_child", "exemplar.Everything", { oneofIndex: 0 }),
    typed("either_string_value", wellKnown.string_value, { oneofIndex: 0 }),
    field("own_name", { type: types.STRING, jsonName: "own_name_in_json" }),
    field("text_int64", { type: types.INT64, options: { jstype: FieldOptions_JSType.JS_STRING } }),
  ],
  oneofDecl: [{ name: "either" }, { name: "_perhaps_string" }, { name: "_perhaps_int64" }, { name: "_perhaps_color" }],
  nestedType: [
    mapEntry("StringToInt32Entry", types.STRING, { type: types.INT32 }),
    mapEntry("Int64ToChildEntry", types.INT64, { type: types.MESSAGE, typeName: ".exemplar.Everything" }),
    mapEntry("BoolToColorEntry", types.BOOL, { type: types.ENUM, typeName: `.${color}` }),
  ],
};

number = 0;
const updateRequest = {
  name: "UpdateRequest",
  field: [
    typed("thing", "exemplar.Everything"),
    typed("update_mask", wellKnown.mask),
    field("note", { type: types.STRING }),
  ],
};

number = 0;
const batchRequest = {
  name: "BatchRequest",
  field: [field("parent", { type: types.STRING }), typed("things", "exemplar.Everything", repeated)],
};

const files = [
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
];

const base = {
  name: "exemplar.proto",
  package: "exemplar",
  syntax: "proto3",
  dependency: files.map((file) => file.proto.name),
  messageType: [everything, updateRequest, batchRequest],
  enumType: [
    {
      name: "Color",
      value: [
        { name: "COLOR_UNSPECIFIED", number: 0 },
        { name: "COLOR_RED", number: 1 },
        { name: "COLOR_BLUE", number: 2 },
      ],
    },
  ],
};

function loadFile(service: MessageInitShape<typeof FileDescriptorProtoSchema>["service"]) {
  const proto = create(FileDescriptorProtoSchema, { ...base, service: service ?? [] });
  return createFileRegistry(proto, (name) => files.find((file) => file.proto.name === name)?.proto);
}

function messageNamed(name: string): DescMessage {
  const found = loadFile([]).getMessage(`exemplar.${name}`);
  if (!found) throw new Error(`no message ${name}`);
  return found;
}

/** A message with every kind of field. */
export const EverythingSchema: DescMessage = messageNamed("Everything");

/** Returns a method `exemplar.Service/Do` with this rule; its input is one of Everything, UpdateRequest and BatchRequest. */
export function methodWithRule(
  rule: RuleInit | undefined,
  input = "Everything",
  output = "Everything",
): DescMethodUnary {
  const options = create(MethodOptionsSchema);
  if (rule) setExtension(options, http, create(HttpRuleSchema, rule));
  const method = { name: "Do", inputType: `.exemplar.${input}`, outputType: `.exemplar.${output}`, options };
  const found = loadFile([{ name: "Service", method: [method] }]).getService("exemplar.Service")?.method.do;
  if (found?.methodKind !== "unary") throw new Error("no method");
  return found as DescMethodUnary;
}
