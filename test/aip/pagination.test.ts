import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { ListRolesResponseSchema, RoleSchema } from "../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { countFitting } from "../../src/aip/pagination.ts";

// The default limit of gRPC clients on a message.
const maxMessageBytes = 4 * 1024 * 1024;

describe("a page", () => {
  const kinds: [what: string, description: string, capabilities: Capability[]][] = [
    ["long texts", "a".repeat(100_000), []],
    ["many values", "", Array<Capability>(10_000).fill(Capability.CAP_IAM_GROUPS_LIST)],
  ];
  for (const [what, description, capabilities] of kinds) {
    it(`a page of ${what} fits into the message limit of gRPC clients`, () => {
      const roles = Array.from({ length: 200 }, () => create(RoleSchema, { description, capabilities }));
      const fitting = countFitting(roles);
      assert.ok(fitting > 1 && fitting < roles.length);
      const page = create(ListRolesResponseSchema, { roles: roles.slice(0, fitting), nextPageToken: "a".repeat(4096) });
      assert.ok(toBinary(ListRolesResponseSchema, page).length < maxMessageBytes);
    });
  }

  it("has one item at least, so every page gets further", () => {
    assert.equal(countFitting(["a".repeat(maxMessageBytes + 1), "a"]), 1);
  });
});
