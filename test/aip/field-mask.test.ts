import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clone, create, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { type FieldMask, FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { GroupSchema } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { IdentitySchema } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { applyMask, maskNames, resolveMask } from "../../src/aip/field-mask.ts";

const stored = create(GroupSchema, { uid: "u", name: "old", description: "text", verified: true, kind: 2, status: 2 });

/** Returns the group after an update of the stored one. */
function updated(change: MessageInitShape<typeof GroupSchema>, paths?: string[]) {
  const source = create(GroupSchema, change);
  const result = resolveMask(GroupSchema, source, paths && mask(paths));
  if ("violations" in result) return result.violations.map(({ field, description }) => `${field}: ${description}`);
  const target = clone(GroupSchema, stored);
  applyMask(GroupSchema, target, source, result.mask);
  return toJson(GroupSchema, target);
}

function mask(paths: string[]): FieldMask {
  return create(FieldMaskSchema, { paths });
}

const before = toJson(GroupSchema, stored) as Record<string, unknown>;

describe("field mask (AIP-134, AIP-161)", () => {
  it("without a mask, the populated fields change", () =>
    assert.deepEqual(updated({ name: "new" }), { ...before, name: "new" }));
  for (const paths of [[], [""]]) {
    it(`F2: ${JSON.stringify(paths)} counts as absent`, () =>
      assert.deepEqual(updated({ name: "new" }, paths), { ...before, name: "new" }));
  }
  it("only a named field changes", () => {
    assert.deepEqual(updated({ name: "new", description: "other" }, ["name"]), { ...before, name: "new" });
  });
  it("a named field that is unset is cleared", () => {
    const { description: _, ...rest } = before;
    assert.deepEqual(updated({ name: "new" }, ["description"]), rest);
  });
  it("* replaces everything except output-only fields", () => {
    assert.deepEqual(updated({ name: "new", uid: "other" }, ["*"]), {
      uid: "u",
      name: "new",
      status: "ORG_STATUS_READY",
    });
  });
  it("F2: an output-only field is ignored", () =>
    assert.deepEqual(updated({ uid: "x", status: 3 }, ["uid", "status"]), before));
  it("F2: both spellings and repetitions are understood", () => {
    const result = resolveMask(GroupSchema, undefined, mask(["create_time", "createTime", "name", "name", ""]));
    assert.deepEqual(result, { mask: { isFull: false, paths: ["create_time", "name"] } });
  });
  for (const path of ["nope", "name.inner", "__proto__", "create_time.seconds", "resource_limits.x", "a.b.c"]) {
    it(`F2: ${path} is not a field`, () =>
      assert.deepEqual(updated({}, [path]), [`update_mask: "${path}" is not a field of Group`]));
  }
  it("F2: the number of paths is bounded", () => {
    const paths = Array.from({ length: 10_000 }, (_, i) => `f${i}`);
    assert.deepEqual(updated({}, paths), ["update_mask: must not name more than 200 fields"]);
  });

  it("a member of a oneof that is named switches the oneof", () => {
    const target = create(IdentitySchema, {
      relationship: { case: "claimMatch", value: { iss: { case: "issuer", value: "i" } } },
    });
    const source = create(IdentitySchema, { relationship: { case: "staticKeys", value: { issuer: "s" } } });
    applyMask(IdentitySchema, target, source, { isFull: false, paths: ["static_keys"] });
    assert.equal(target.relationship.case, "staticKeys");
    applyMask(
      IdentitySchema,
      target,
      create(IdentitySchema, { relationship: { case: "servicePrincipal", value: 2 } }),
      { isFull: true, paths: [] },
    );
    assert.deepEqual(target.relationship, { case: "servicePrincipal", value: 2 });
  });

  it("a path inside a message changes that part alone", () => {
    const claims = { iss: { case: "issuer" as const, value: "i" }, sub: { case: "subject" as const, value: "s" } };
    const target = create(IdentitySchema, { relationship: { case: "claimMatch", value: claims } });
    const source = create(IdentitySchema, {
      relationship: { case: "claimMatch", value: { sub: { case: "subject", value: "t" } } },
    });
    applyMask(IdentitySchema, target, source, { isFull: false, paths: ["claim_match.subject"] });
    assert.deepEqual(toJson(IdentitySchema, target), { claimMatch: { issuer: "i", subject: "t" } });
  });

  it("a mask names a field by its own path or by a path inside it", () => {
    assert.ok(maskNames({ isFull: false, paths: ["claim_match.issuer"] }, "claim_match"));
    assert.ok(!maskNames({ isFull: false, paths: ["claim_matcher"] }, "claim_match"));
    assert.ok(maskNames({ isFull: true, paths: [] }, "anything"));
  });
});
