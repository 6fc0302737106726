import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { GroupSchema, ListGroupsResponseSchema } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { StatusSchema } from "../../../gen/google/rpc/status_pb.ts";
import { writeBinary } from "../../../src/transport/unary/protobuf-encoder.ts";
import { freezeLists, messages } from "../rest/arbitrary.ts";
import { EverythingSchema } from "../rest/exemplar.ts";
import { generatedMethods } from "../rest/methods.ts";

const replies = [...new Set((await generatedMethods()).map(({ descriptor }) => descriptor.output))];

function assertAsTheLibrary(schema: DescMessage, message: Message): void {
  const bytes = Buffer.from(toBinary(schema, message));
  assert.deepEqual(writeBinary(schema, message), bytes);
  // The bytes of a list that is frozen are written once.
  const frozen = freezeLists(message);
  for (let i = 0; i < 2; i++) assert.deepEqual(writeBinary(schema, frozen), bytes);
}

describe("the bytes of a message", () => {
  for (const schema of [...replies, EverythingSchema, StatusSchema, StructSchema]) {
    it(`the bytes of a message are those of protobuf-es: ${schema.typeName}`, () => {
      fc.assert(
        fc.property(messages(schema), (message) => assertAsTheLibrary(schema, message)),
        { numRuns: 20 },
      );
    });
  }

  it("the bytes of a message are those of protobuf-es for texts and messages around every size of a length", () => {
    for (const size of [1, 42, 43, 125, 126, 127, 128, 5461, 5462, 16_381, 16_383, 16_384, 2_097_152, 3_000_000]) {
      for (const letter of ["a", "é", "€", "😀", "\ud800"]) {
        const group = create(GroupSchema, { name: letter.repeat(size) });
        assertAsTheLibrary(ListGroupsResponseSchema, create(ListGroupsResponseSchema, { groups: [group, group] }));
      }
    }
  });

  it("the bytes of a message keep unknown fields", () => {
    const message = fromBinary(GroupSchema, Buffer.from([0x0a, 1, 0x61, 0xf8, 0x7f, 5, 0xfa, 0x7f, 2, 1, 2]));
    assertAsTheLibrary(GroupSchema, message);
  });

  it("the bytes of a message have the requested prefix length before them and the suffix after them", () => {
    const group = create(GroupSchema, { name: "n" });
    const bytes = toBinary(GroupSchema, group);
    const framed = writeBinary(GroupSchema, group, 5, Buffer.from("end"));
    assert.deepEqual(framed.subarray(5), Buffer.concat([bytes, Buffer.from("end")]));
  });

  it("the bytes of a message do not share memory with those of the next message", () => {
    const first = writeBinary(GroupSchema, create(GroupSchema, { name: "first" }));
    const copy = Buffer.from(first);
    writeBinary(GroupSchema, create(GroupSchema, { name: "second" }));
    assert.deepEqual(first, copy);
  });

  it("fails for a value that its type cannot hold, and then encodes the next message", () => {
    const wrong: [string, unknown][] = [
      ["kind", 1.5],
      ["kind", 2 ** 31],
      ["name", 7],
      ["createTime", create(GroupSchema)],
    ];
    for (const [field, value] of wrong) {
      const message = Object.assign(create(GroupSchema), { [field]: value });
      assert.throws(() => writeBinary(GroupSchema, message), field);
    }
    assert.throws(
      () => writeBinary(GroupSchema, create(ListGroupsResponseSchema)),
      /ListGroupsResponse is not .*Group$/,
    );
    assertAsTheLibrary(GroupSchema, create(GroupSchema, { name: "n" }));
  });
});
