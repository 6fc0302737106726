// Tests of the statement that an event log amounts to.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import {
  type AdvisoryEventSchema,
  AdvisoryEvent_FalsePositiveDetermination_Type as Reason,
  ReviewState,
} from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { ProductStatementSchema, ProductStatus } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { heldStatement } from "../../../src/advisories/versions/held-statement.ts";

type Type = MessageInitShape<typeof AdvisoryEventSchema>["type"];

/** Returns the statement that a log of approved events comes to, as JSON. */
function held(...types: Type[]): unknown {
  const events = types.map((type) => ({ type: type!, reviewState: ReviewState.APPROVED }));
  return json(heldStatement(create(ProductStatementSchema, { product: { name: "tool" }, events })));
}

function json(statement: ReturnType<typeof heldStatement>): unknown {
  return statement && toJson(ProductStatementSchema, statement);
}

describe("the statement that a log comes to", () => {
  const detection: Type = { case: "detection", value: { type: { case: "manual", value: {} } } };
  const product = { name: "tool" };
  const affected = { product, status: "PRODUCT_STATUS_AFFECTED" };
  const notAffected = { product, status: "PRODUCT_STATUS_NOT_AFFECTED" };
  const unknown = { product, status: "PRODUCT_STATUS_UNDER_INVESTIGATION" };
  const events = [
    { type: "RANGE_EVENT_TYPE_INTRODUCED", version: "0" },
    { type: "RANGE_EVENT_TYPE_FIXED", version: "2" },
  ];
  const cases: readonly (readonly [string, Type, unknown])[] = [
    ["a detection", detection, unknown],
    [
      "no analysis is planned",
      { case: "analysisNotPlanned", value: { note: "old" } },
      { ...unknown, notes: "old", plan: "RESPONSE_PLAN_ANALYSIS_NOT_PLANNED" },
    ],
    ["affected", { case: "truePositiveDetermination", value: { note: "seen" } }, { ...affected, notes: "seen" }],
    ["no fix is planned", { case: "fixNotPlanned", value: {} }, { ...affected, plan: "RESPONSE_PLAN_FIX_NOT_PLANNED" }],
    [
      "a fix is awaited",
      { case: "pendingUpstreamFix", value: {} },
      { ...affected, plan: "RESPONSE_PLAN_PENDING_UPSTREAM_FIX" },
    ],
    [
      "not affected",
      { case: "falsePositiveDetermination", value: { type: Reason.INLINE_MITIGATIONS_EXIST, note: "guarded" } },
      { ...notAffected, justification: "inline_mitigations_already_exist", impact: "guarded" },
    ],
    ["not affected without a reason", { case: "falsePositiveDetermination", value: {} }, notAffected],
    [
      "a fix",
      { case: "fixed", value: { fixedVersion: "2" } },
      { ...affected, ranges: [{ type: "ECOSYSTEM", events }] },
    ],
    ["a fix without a version", { case: "fixed", value: {} }, undefined],
    [
      "patched versions",
      { case: "patched", value: { patchedVersions: ["1", "2"] } },
      { product, status: "PRODUCT_STATUS_FIXED", versions: ["1", "2"] },
    ],
  ];
  for (const [name, type, expected] of cases) {
    it(name, () => assert.deepEqual(held(detection, type), expected));
  }

  it("only approved events count", () => {
    const pending = { reviewState: ReviewState.PENDING, type: { case: "fixNotPlanned" as const, value: {} } };
    const approved = { reviewState: ReviewState.APPROVED, type: detection };
    const statement = (...log: MessageInitShape<typeof AdvisoryEventSchema>[]) =>
      create(ProductStatementSchema, { events: log });
    assert.deepEqual(json(heldStatement(statement(approved, pending))), { status: unknown.status });
    assert.equal(heldStatement(statement(pending)), undefined);
  });

  it("a statement without a log is returned unchanged", () => {
    const statement = create(ProductStatementSchema, { status: ProductStatus.FIXED, versions: ["1"] });
    assert.equal(heldStatement(statement), statement);
  });
});
