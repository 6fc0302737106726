// The text of messages is that of the library, also where what is frozen becomes text once.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRegistry, type DescMessage, type Message, toJson, toJsonString } from "@bufbuild/protobuf";
import fc from "fast-check";
import { BadRequestSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { newTextWriters } from "../../../src/transport/json/serializer.ts";
import { freezeLists, messages } from "../rest/arbitrary.ts";
import { EverythingSchema } from "../rest/exemplar.ts";
import { generatedMethods } from "../rest/methods.ts";

const replies = [...new Set((await generatedMethods()).map(({ descriptor }) => descriptor.output))];

describe("the text of a message", () => {
  for (const alwaysEmitImplicit of [false, true]) {
    const options = { registry: createRegistry(BadRequestSchema), alwaysEmitImplicit };
    const writer = newTextWriters((schema, message) => toJson(schema, message, options));
    const compare = (schema: DescMessage, message: Message) => {
      const text = toJsonString(schema, message, options);
      const whole = Object.freeze(freezeLists(message));
      for (const each of [message, freezeLists(message), whole, whole]) assert.equal(writer(schema)(each), text);
    };
    for (const schema of [...replies, EverythingSchema]) {
      it(`${schema.typeName}${alwaysEmitImplicit ? ", with zero values" : ""}`, () => {
        fc.assert(
          fc.property(messages(schema), (message) => compare(schema, message)),
          { numRuns: 20 },
        );
      });
    }
  }
});
