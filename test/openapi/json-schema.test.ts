// The schemas of JSON against the writers of JSON: they cannot say different things.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRegistry, type DescMessage, type JsonObject } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import {
  CreateGroupRequestSchema,
  DeleteGroupRequestSchema,
  UpdateGroupRequestSchema,
} from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { BadRequestSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { isInputOnly } from "../../src/aip/field-behavior.ts";
import { newComponents } from "../../src/openapi/components.ts";
import type { JsonUse } from "../../src/openapi/json-schema.ts";
import { fieldRules, newGroupParentRule } from "../../src/pipeline/text-rules.ts";
import { detailTypes } from "../../src/transport/error-detail-types.ts";
import { newJsonConverters } from "../../src/transport/json/encoder.ts";
import { composeUncalled } from "../server/compose-uncalled.ts";
import { messages } from "../transport/rest/arbitrary.ts";
import { EverythingSchema } from "../transport/rest/exemplar.ts";
import { strictValidator } from "./strict.ts";

const uid = `${"0".repeat(40)}/${"0".repeat(16)}`;
const registry = createRegistry(...detailTypes, BadRequestSchema);
/** But for those of v2, which are those of v2beta1 field for field. */
const outputs = new Map(
  [...composeUncalled().methods.values()]
    .map(({ descriptor: { output } }) => [output.typeName, output] as const)
    .filter(([name]) => !name.includes(".v2.")),
);
outputs.delete(EmptySchema.typeName);

/** Returns the validator of a message in a use, and the JSON that is written of it. */
function newTrial(schema: DescMessage, use: JsonUse, zeroValues: boolean) {
  const components = newComponents(() => "", fieldRules(new Map()));
  const reference = components.refer(schema, use);
  const validate = strictValidator(reference, components.schemas() as Record<string, JsonObject>);
  const convert = newJsonConverters({ registry, zeroValues }).converter(schema);
  return { validate, convert };
}

function check(schema: DescMessage, use: JsonUse, zeroValues: boolean): void {
  const { validate, convert } = newTrial(schema, use, zeroValues);
  const property = fc.property(messages(schema, 3), (message) => {
    if (use === "reply") clearInputOnly(reflect(schema, message));
    const json = JSON.stringify(convert(message));
    // An item of a list that is given may not be empty, and no text may hold NUL.
    fc.pre(use !== "update" || !/[[,]""|\\u0000/.test(json));
    assert.ok(validate(JSON.parse(json)), `${json}\n${JSON.stringify(validate.errors)}`);
  });
  fc.assert(property, { numRuns: 50 });
}

/** No service puts what is input only into a reply. */
function clearInputOnly(message: ReflectMessage): void {
  for (const field of message.fields) {
    if (isInputOnly(field)) message.clear(field);
    else if (field.fieldKind === "list" && field.listKind === "message")
      for (const item of message.get(field)) clearInputOnly(item as ReflectMessage);
    else if (field.fieldKind === "message" && message.isSet(field)) clearInputOnly(message.get(field));
  }
}

describe("schemas of JSON", () => {
  for (const schema of [EverythingSchema, ...outputs.values()]) {
    it(`${schema.typeName} is written as its schema says`, () => check(schema, "reply", true));
  }

  for (const type of detailTypes) {
    if (type.kind !== "message") continue;
    it(`${type.typeName} is written as its schema says in the details of an error`, () => check(type, "detail", false));
  }

  it("everything that is written as JSON can be sent as an update", () => check(EverythingSchema, "update", false));

  it("rejects what the pipeline rejects for every service: invalid uids and empty texts", () => {
    const ofGroup = newTrial(UpdateGroupRequestSchema, "request", false);
    assert.equal(ofGroup.validate({ group: { name: "x" } }), true);
    assert.equal(ofGroup.validate({ group: { name: "" } }), false);
    const ofUid = newTrial(DeleteGroupRequestSchema, "request", false);
    assert.equal(ofUid.validate({ uid }), true);
    assert.equal(ofUid.validate({ uid: "x" }), false);
  });

  it("the parent of a new group is what its rule takes: nothing, a uid, the end of one or a name", () => {
    const { validate } = newTrial(CreateGroupRequestSchema, "request", false);
    const segment = "0".repeat(16);
    for (const parent of ["", uid, segment, `${segment}/${segment}`, "a.short form"]) {
      assert.equal(validate({ parent, group: { name: "x" } }), true, parent);
      assert.ok(parent === "" || newGroupParentRule.test(parent), parent);
    }
    for (const parent of ["/", "Upper", `${uid}/x`, `${segment}/x`, `${uid}/`]) {
      assert.equal(validate({ parent, group: { name: "x" } }), false, parent);
      assert.ok(!newGroupParentRule.test(parent), parent);
    }
  });

  it("a value of another type is rejected", () => {
    const { validate } = newTrial(EverythingSchema, "update", false);
    for (const json of [
      { theInt64: 1 },
      { theInt32: "1" },
      { theInt32: 2 ** 31 },
      { theUint32: -1 },
      { theBool: "true" },
      { theColor: "COLOR_GREEN" },
      { theColor: 1 },
      { theTimestamp: "yesterday" },
      { theDuration: "1h" },
      { theMask: ["a"] },
      { manyString: "a" },
      { manyString: [""] },
      { int64ToChild: { a: {} } },
      { stringToInt32: { a: "b" } },
      { theChild: { nonsense: 1 } },
    ])
      assert.equal(validate(json), false, JSON.stringify(json));
  });
});
