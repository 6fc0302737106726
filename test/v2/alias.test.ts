import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { fromBinary, getOption, toBinary, toJsonString } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import {
  GetGroupRequestSchema,
  GroupSchema,
  GroupsService,
} from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { RolesService } from "../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { http } from "../../gen/google/api/annotations_pb.ts";
import { accessRuleOf } from "../../src/authz/rules.ts";
import type { Method } from "../../src/pipeline/method.ts";
import { fieldRules } from "../../src/pipeline/text-rules.ts";
import { aliasMethods } from "../../src/v2/alias.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

const found: Method["call"] = async (_call, decode) => {
  const request = await decode();
  assert.equal(request.$typeName, GetGroupRequestSchema.typeName);
  return fromBinary(GroupSchema, toBinary(GroupSchema, { ...emptyGroup, name: "found" }));
};
const emptyGroup = fromBinary(GroupSchema, new Uint8Array());

function tableOf(services: (typeof GroupsService | typeof RolesService)[]) {
  const methods = services
    .flatMap((service) => service.methods)
    .map((descriptor): Method => {
      return {
        path: `/${descriptor.parent.typeName}/${descriptor.name}`,
        descriptor: descriptor as never,
        errorDomain: "iam.example.org",
        rules: fieldRules(new Map()),
        call: found,
      };
    });
  return new Map(methods.map((method) => [method.path, method]));
}

describe("the alias of v2beta1 as v2", () => {
  const table = tableOf([GroupsService, RolesService]);
  const later = aliasMethods(table);
  const aliases = new Map(later.flatMap(({ methods }) => [...methods().values()]).map((each) => [each.path, each]));

  it("v2 knows its packages and routes before it makes its methods", () => {
    assert.deepEqual(
      later.map(({ packages, routes }) => [packages, routes]),
      [[["chainguard.platform.iam.v2."], ["/iam/v2"]]],
    );
  });

  it("has every method under its new name, with the same rule and the new routes", () => {
    assert.deepEqual([...aliases.keys()].sort(), [...table.keys()].map((path) => path.replace("v2beta1", "v2")).sort());
    for (const [path, alias] of aliases) {
      const beta = table.get(path.replace("v2.", "v2beta1."));
      assert.ok(beta);
      const [rule, betaRule] = [accessRuleOf(alias.descriptor), accessRuleOf(beta.descriptor)];
      assert.deepEqual(JSON.stringify(rule), JSON.stringify(betaRule));
      const [route, betaRoute] = [getOption(alias.descriptor, http), getOption(beta.descriptor, http)];
      assert.deepEqual(route.pattern.value, betaRoute.pattern.value?.toString().replace("/v2beta1/", "/v2/"));
      assert.equal(route.body, betaRoute.body);
    }
  });

  // The descriptors that reflection serves: protobuf's own runtimes reject a scalar with a type name, even an empty one.
  it("has files equal to those of v2beta1, field by field", () => {
    for (const [path, alias] of aliases) {
      const beta = table.get(path.replace("v2.", "v2beta1."));
      assert.ok(beta);
      const [file, betaFile] = [alias, beta].map(({ descriptor }) =>
        toJsonString(FileDescriptorProtoSchema, descriptor.parent.file.proto),
      );
      assert.equal(file, betaFile?.replaceAll("v2beta1", "v2"));
    }
  });

  it("converts messages to v2beta1 and back", async () => {
    const alias = aliases.get("/chainguard.platform.iam.v2.GroupsService/GetGroup");
    assert.ok(alias);
    const request = { $typeName: GetGroupRequestSchema.typeName, uid: "x" } as const;
    const reply = await alias.call({} as never, () =>
      fromBinary(alias.descriptor.input, toBinary(GetGroupRequestSchema, request)),
    );
    assert.equal(reply.$typeName, "chainguard.platform.iam.v2.Group");
    assert.equal(fromBinary(GroupSchema, toBinary(alias.descriptor.output, reply)).name, "found");
  });
});

describe("v2 over the wire", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server[Symbol.asyncDispose]());

  it("reads and changes the same data as v2beta1, and returns the same errors", async () => {
    const { url, ownerToken, groupUid } = server;
    const made = await rest(url, ownerToken, "POST", `/iam/v2/groups/${groupUid}`, { name: "team" });
    assert.equal(made.status, 200);
    const changed = await rest(url, ownerToken, "PATCH", `/iam/v2/groups/${made.body.uid}`, { description: "seen" });
    const beta = await rest(url, ownerToken, "GET", `/iam/v2beta1/groups/${made.body.uid}`);
    assert.deepEqual(changed.body, beta.body);
    const [v2, v2beta1] = await Promise.all(
      ["v2", "v2beta1"].map((v) => rest(url, ownerToken, "POST", `/iam/${v}/groups/${groupUid}`, { name: "NO" })),
    );
    assert.deepEqual([v2?.status, v2?.body], [400, v2beta1?.body]);
    assert.equal((await rest(url, undefined, "GET", "/iam/v2/groups")).status, 401);
    assert.equal((await rest(url, undefined, "GET", "/ping/v2/ping")).status, 200);
  });
});
