import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  GroupFilterSchema,
  GroupListSchema,
  GroupSchema as V1GroupSchema,
} from "../../gen/chainguard/platform/iam/v1/groups_pb.ts";
import {
  GroupSchema,
  ListGroupsRequestSchema,
  ListGroupsResponseSchema,
  OrgKind,
} from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import {
  CatalogTier as V1CatalogTier,
  RepoSchema as V1RepoSchema,
} from "../../gen/chainguard/platform/registry/v1/registry_pb.ts";
import { CatalogTier, RepoSchema } from "../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { type ApiError, Code, invalidArgument } from "../../src/aip/errors.ts";
import { mapMessages } from "../../src/v1/fields.ts";
import { renamer, renaming } from "../../src/v1/violations.ts";

describe("the mapping of messages", () => {
  const group = mapMessages(V1GroupSchema, GroupSchema);
  const said = { name: "n", description: "d", resourceLimits: { idps: 3 }, verified: true, kind: OrgKind.CUSTOMER };

  it("converts every field in both directions, with the name of each version", () => {
    const now = group.toCurrent(create(V1GroupSchema, { id: "u", ...said }));
    assert.deepEqual(now, create(GroupSchema, { uid: "u", ...said }));
    assert.deepEqual(group.toV1(now), create(V1GroupSchema, { id: "u", ...said }));
  });

  it("drops what version 1 has no field for", () => {
    const now = create(GroupSchema, { uid: "u", createTime: { seconds: 1n } });
    assert.deepEqual(group.toV1(now), create(V1GroupSchema, { id: "u" }));
  });

  it("converts lists and nested messages", () => {
    const lists = mapMessages(GroupListSchema, ListGroupsResponseSchema, { items: "groups" });
    const now = create(ListGroupsResponseSchema, { groups: [{ uid: "a" }, { uid: "b" }] });
    assert.deepEqual(lists.toV1(now), create(GroupListSchema, { items: [{ id: "a" }, { id: "b" }] }));
  });

  it("converts enum values by name; values without a name in version 1 become unspecified", () => {
    const names = {
      readme: "",
      custom_overlay: "",
      "SyncConfig.expiration": "expiration_time",
      "SyncConfig.sync_apks": "",
    };
    const repo = mapMessages(V1RepoSchema, RepoSchema, names);
    const shared = ["APPLICATION", "BASE", "FIPS"] as const;
    for (const name of shared) {
      const [then, now] = [V1CatalogTier[name], CatalogTier[name]];
      assert.equal(repo.toCurrent(create(V1RepoSchema, { catalogTier: then })).catalogTier, now);
      assert.equal(repo.toV1(create(RepoSchema, { catalogTier: now })).catalogTier, then);
    }
    // For today to refuse.
    assert.equal(repo.toCurrent(create(V1RepoSchema, { catalogTier: 99 as V1CatalogTier })).catalogTier, 99);
    assert.equal(repo.toV1(create(RepoSchema, { catalogTier: 99 as CatalogTier })).catalogTier, 0);
  });

  it("fails at start if a field has no counterpart and is not declared as such", () => {
    assert.throws(() => mapMessages(GroupFilterSchema, ListGroupsRequestSchema), /GroupFilter\.id has no counterpart/);
    assert.doesNotThrow(() => mapMessages(GroupFilterSchema, ListGroupsRequestSchema, { id: "" }));
  });

  it("fails at start if the types of two fields differ", () => {
    const names = { name: "verified", verified: "" };
    assert.throws(() => mapMessages(V1GroupSchema, GroupSchema, names), /name is scalar 9, .*verified is scalar 8/);
  });
});

describe("violations in version 1", () => {
  const rename = renamer([
    ["role_uid", "role"],
    ["uid", "id"],
  ]);

  it("name the field of version 1 in paths and in descriptions that repeat it", () => {
    const cases = [
      [
        { field: "uid", description: "must match" },
        { field: "id", description: "must match" },
      ],
      [
        { field: "requests[1].role_uid", description: "role_uid is required" },
        { field: "requests[1].role", description: "role is required" },
      ],
      [
        { field: "role", description: "exactly one of role_uid and role_name is required" },
        { field: "role", description: "exactly one of role and role_name is required" },
      ],
      [
        { field: "uid_of", description: "uid must match" },
        { field: "uid_of", description: "uid must match" },
      ],
    ] as const;
    for (const [now, v1] of cases) assert.deepEqual(rename(now), v1);
  });

  it("are renamed in errors of the method; other errors are unchanged", async () => {
    const found = invalidArgument([{ field: "role_uid", description: "role_uid is required" }]);
    await assert.rejects(
      renaming(rename, () => Promise.reject(found)),
      ({ code, message }: ApiError) =>
        code === Code.INVALID_ARGUMENT && message === "Invalid argument: role: role is required",
    );
    const other = new Error("other");
    await assert.rejects(
      renaming(rename, () => Promise.reject(other)),
      other,
    );
  });
});
