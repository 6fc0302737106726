// The lint of the API: what must hold of every method and every message, the future ones included.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, it } from "node:test";
import { type DescField, type DescMessage, getOption, hasOption, ScalarType } from "@bufbuild/protobuf";
import { EmptySchema, FieldMaskSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { iam_scope } from "../../gen/chainguard/annotations/auth_pb.ts";
import { UIDPFilterSchema } from "../../gen/chainguard/platform/common/uidp_pb.ts";
import { RepoSchema as V1RepoSchema } from "../../gen/chainguard/platform/registry/v1/registry_pb.ts";
import { RepoSchema } from "../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { resource } from "../../gen/google/api/resource_pb.ts";
import { isOutputOnly, isRequired } from "../../src/aip/field-behavior.ts";
import { accessRuleOf } from "../../src/authz/rules.ts";
import type { Method } from "../../src/pipeline/method.ts";
import { exemptMethods } from "../../src/server/services.ts";
import { bindingsOf } from "../../src/transport/rest/http-rule.ts";
import { apiMethods, formatRoutes, goldenFile } from "./routes.ts";

let methods: readonly Method[];

/** Returns the methods whose names begin with the verb. Version 1 is older than the rules of names and shapes. */
function named(verb: string): Method[] {
  const found = methods.filter(({ path }) => new RegExp(`\\.v2beta1\\.\\w+/${verb}[A-Z]`).test(path));
  assert.notEqual(found.length, 0);
  return found;
}

/** Whether a method answers a resource. */
function isResource({ descriptor }: Method): boolean {
  return hasOption(descriptor.output, resource);
}

/** Resources whose times the published contract leaves out. */
const timeless = new Set(["RepoReadme", "Tag", "Subscription"]);

function fieldOf(message: DescMessage, name: string, at: string): DescField {
  const field = message.fields.find((candidate) => candidate.name === name);
  assert.ok(field, `${at}: ${message.name} has no ${name}`);
  return field;
}

describe("the surface of the API", () => {
  before(async () => {
    methods = await apiMethods();
  });

  it("the API equals the recorded table, on every line of which clients rely", async () => {
    assert.equal(
      await formatRoutes(),
      readFileSync(goldenFile, "utf8"),
      "after an intended change, run: npx node test/surface/write-routes.ts",
    );
  });

  it("every method has an HTTP rule, except the one without a rule in the published contract", () => {
    for (const method of methods) {
      assert.equal(
        bindingsOf(method).length === 0,
        method.path === "/chainguard.platform.iam.GroupInvites/CreateWithGroup",
      );
    }
  });

  it("every method has an access rule, or is listed as exempt, and none has both", () => {
    for (const { path, descriptor } of methods) {
      assert.equal(accessRuleOf(descriptor) === undefined, exemptMethods.has(path), path);
    }
  });

  it("every exempt method exists", () => {
    const paths = new Set(methods.map(({ path }) => path));
    for (const path of exemptMethods) assert.ok(paths.has(path), path);
  });

  it("a scoped rule finds its uid: a text, required, or the uid of a required message", () => {
    for (const { path, descriptor } of methods) {
      const rule = accessRuleOf(descriptor);
      if (rule?.type !== "scoped") continue;
      const [first = "", second] = rule.field.split(".");
      const field = fieldOf(descriptor.input, first, path);
      // Version 1 replaces a resource by itself, whose id is nobody's to choose.
      const isOwnId = descriptor.input === descriptor.output && isOutputOnly(field);
      assert.ok(isRequired(field) || isOwnId, `${path}: ${first} must be required`);
      const leaf = field.fieldKind === "message" ? fieldOf(field.message, second ?? "", path) : field;
      assert.equal(leaf.scalar, ScalarType.STRING, path);
    }
  });

  it("AIP-158: every List has the paging fields, a place filter, and one page of one resource", () => {
    for (const { path, descriptor } of named("List")) {
      const { input, output } = descriptor;
      for (const name of ["page_size", "skip"]) assert.equal(fieldOf(input, name, path).scalar, ScalarType.INT32, name);
      for (const name of ["page_token", "order_by"]) {
        assert.equal(fieldOf(input, name, path).scalar, ScalarType.STRING, name);
      }
      // A list of what lies at one place needs no filter by place.
      if (accessRuleOf(descriptor)?.type !== "scoped")
        assert.equal(fieldOf(input, "uidp", path).message?.typeName, UIDPFilterSchema.typeName, path);
      const lists = output.fields.filter((field) => field.fieldKind === "list");
      assert.equal(lists.length, 1, `${path}: exactly one repeated field`);
      const [list] = lists;
      assert.ok(list?.message && hasOption(list.message, resource), `${path}: of a resource`);
      assert.equal(list.jsonName, getOption(list.message, resource).plural, `${path}: under its plural`);
      assert.equal(fieldOf(output, "next_page_token", path).scalar, ScalarType.STRING);
      assert.equal(fieldOf(output, "total_count", path).scalar, ScalarType.INT64);
      assert.equal(fieldOf(output, "skipped", path).scalar, ScalarType.INT32);
    }
  });

  it("every resource has a uid, which is the scope where it can be updated, a creation time, and a type", () => {
    const updated = new Set(named("Update").map(({ descriptor }) => descriptor.output.typeName));
    for (const { output: message } of named("Get")
      .filter(isResource)
      .map(({ descriptor }) => descriptor)) {
      const uid = fieldOf(message, "uid", message.name);
      assert.deepEqual([uid.number, uid.scalar, isOutputOnly(uid)], [1, ScalarType.STRING, true], message.name);
      if (updated.has(message.typeName)) assert.equal(getOption(uid, iam_scope), true, message.name);
      assert.match(getOption(message, resource).type, /^(iam|registry|vulnerabilities|events)\.chainguard\.dev\/[A-Z]/);
      if (timeless.has(message.name)) continue;
      const createTime = fieldOf(message, "create_time", message.name);
      assert.equal(createTime.message?.typeName, TimestampSchema.typeName);
      assert.ok(isOutputOnly(createTime), message.name);
    }
  });

  it("AIP-131, AIP-135: Get and Delete of a resource take the uid alone", () => {
    for (const { path, descriptor } of [...named("Get").filter(isResource), ...named("Delete")]) {
      assert.deepEqual(
        descriptor.input.fields.map(({ name }) => name),
        ["uid"],
        path,
      );
    }
    for (const { path, descriptor } of named("Delete")) {
      assert.equal(descriptor.output.typeName, EmptySchema.typeName, path);
    }
  });

  it("JSON names are those of the published contract, which keeps the underscore of a repo's sync_config", () => {
    const repos = named("Get").map(({ descriptor }) => descriptor.output);
    const repo = repos.find(({ typeName }) => typeName === RepoSchema.typeName);
    assert.ok(repo);
    for (const schema of [repo, V1RepoSchema])
      assert.equal(fieldOf(schema, "sync_config", schema.typeName).jsonName, "sync_config");
  });

  it("AIP-133, AIP-134: Create and Update accept and return the resource itself", () => {
    for (const { path, descriptor } of [...named("Create"), ...named("Update")]) {
      const { input, output } = descriptor;
      const body = input.fields.find((field) => field.message?.typeName === output.typeName);
      assert.ok(body && isRequired(body), `${path}: a required ${output.name}`);
      if (/^Create/.test(descriptor.name)) assert.equal(fieldOf(input, "parent", path).scalar, ScalarType.STRING);
      else assert.equal(fieldOf(input, "update_mask", path).message?.typeName, FieldMaskSchema.typeName, path);
    }
  });
});
