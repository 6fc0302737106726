import assert from "node:assert/strict";
import { it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { FieldDescriptorProtoSchema, FieldOptionsSchema, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { message } from "../protobuf.ts";

it("messages are encoded as protobuf does", () => {
  const name = "n".repeat(300);
  const options = create(FieldOptionsSchema, { lazy: true });
  assert.deepEqual(
    message([1, name], [3, 5], [8, message([5, 1])]),
    Buffer.from(toBinary(FieldDescriptorProtoSchema, create(FieldDescriptorProtoSchema, { name, number: 5, options }))),
  );
  const file = create(FileDescriptorProtoSchema, { name: "n", package: "" });
  assert.deepEqual(message([1, "n"], [2, ""]), Buffer.from(toBinary(FileDescriptorProtoSchema, file)));
});
