import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { IdentitiesService } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { methodWithRule } from "./exemplar.ts";
import { assertViolations, bind } from "./requests.ts";

const update = methodWithRule(
  { pattern: { case: "patch", value: "/things/{thing.the_string=**}" }, body: "thing" },
  "UpdateRequest",
);
const { updateGroup } = GroupsService.method;
const { updateIdentity } = IdentitiesService.method;

function maskOf(method: DescMethodUnary, request: string, body?: string): readonly string[] | undefined {
  const message = bind([method], `PATCH ${request}`, body) as { updateMask?: FieldMask };
  return message.updateMask?.paths;
}

describe("AIP-134: the mask of a PATCH that gives none", () => {
  const cases: [rule: string, body: string | undefined, ...mask: string[]][] = [
    ["is empty, yet there, without a body", undefined],
    ["is empty, yet there, for an empty body", "{}"],
    ["has what the body mentions, in proto names", '{"theInt32":5,"the_bool":true}', "the_int32", "the_bool"],
    [
      "counts zero values",
      '{"theInt32":0,"ownName":"","theBool":false}'.replace("ownName", "own_name"),
      "the_int32",
      "own_name",
      "the_bool",
    ],
    ["counts null", '{"theInt32":null,"theChild":null}', "the_int32", "the_child"],
    ["names fields with an explicit JSON name", '{"own_name_in_json":"a"}', "own_name"],
    [
      "follows messages to what they mention",
      '{"theChild":{"theInt32":1,"theChild":{"theBool":true}}}',
      "the_child.the_int32",
      "the_child.the_child.the_bool",
    ],
    [
      "counts an empty message as itself",
      '{"theChild":{},"eitherChild":{"theChild":{}}}',
      "the_child",
      "either_child.the_child",
    ],
    ["counts null inside a message", '{"theChild":{"theInt32":null}}', "the_child.the_int32"],
    ["counts lists as a whole", '{"manyString":[],"manyChild":[{"theInt32":1}]}', "many_string", "many_child"],
    ["counts maps as a whole", '{"stringToInt32":{"a":1},"int64ToChild":{}}', "string_to_int32", "int64_to_child"],
    [
      "counts google.protobuf messages as a whole",
      '{"theTimestamp":"2026-01-01T00:00:00Z","theStruct":{"a":1},"theStringValue":"","theDuration":"1s"}',
      "the_timestamp",
      "the_struct",
      "the_string_value",
      "the_duration",
    ],
    ["never has the field of the path", '{"theString":"b","theInt32":1}', "the_int32"],
    ["has fields of that name elsewhere", '{"theChild":{"theString":"b"}}', "the_child.the_string"],
  ];
  for (const [rule, body, ...mask] of cases) {
    it(rule, () => assert.deepEqual(maskOf(update, "/things/a", body), mask));
  }

  it("follows the published resources", () => {
    assert.deepEqual(
      maskOf(updateGroup, "/iam/v2beta1/groups/ab", '{"uid":"cd","description":"","resourceLimits":{}}'),
      ["description", "resource_limits"],
    );
    const body = '{"name":"n","claimMatch":{"issuer":"i","claims":{"a":"b"}},"servicePrincipal":null}';
    assert.deepEqual(maskOf(updateIdentity, "/iam/v2beta1/identities/ab", body), [
      "name",
      "claim_match.issuer",
      "claim_match.claims",
      "service_principal",
    ]);
  });

  it("is not set for other methods", () => {
    const create = methodWithRule({ pattern: { case: "post", value: "/things" }, body: "thing" }, "UpdateRequest");
    assert.equal(
      (bind([create], "POST /things", '{"theInt32":1}') as { updateMask?: FieldMask }).updateMask,
      undefined,
    );
  });

  it("is made of the resource, where the body is the whole request", () => {
    const { updateIdentityMetadata } = IdentitiesService.method;
    const maskFor = (body: string) =>
      maskOf(updateIdentityMetadata, "/iam/v2beta1/identities:updateIdentityMetadata", body);
    const cases: [body: string, mask: string[]][] = [
      ['{"identityMetadata":{"updatesOptIn":false,"company":""}}', ["updates_opt_in", "company"]],
      ['{"identity_metadata":{"job_title":"x"}}', ["job_title"]],
      ['{"identityMetadata":{"company":"x"},"updateMask":""}', ["company"]],
      ['{"identityMetadata":{"company":"x"},"updateMask":null}', ["company"]],
      ['{"identityMetadata":{"company":"x"},"updateMask":"jobTitle"}', ["job_title"]],
      ['{"identityMetadata":{"company":"x","nope":1},"update_mask":"company"}', ["company"]],
      ["{}", []],
    ];
    for (const [body, mask] of cases) assert.deepEqual(maskFor(body), mask, body);
    assertViolations(
      () => maskFor('{"identityMetadata":{"nope":1}}'),
      'identity_metadata.nope: could not find field "nope" in "chainguard.platform.iam.v2beta1.IdentityMetadata"',
    );
  });
});

describe("AIP-134: the mask of a PATCH that gives one", () => {
  const cases: [rule: string, query: string, ...mask: string[]][] = [
    ["is taken as it is", "updateMask=the_int32", "the_int32"],
    ["may be in camel case", "update_mask=theInt32,theChild.theBool", "the_int32", "the_child.the_bool"],
    ["may hold several paths", "updateMask=theInt32%2Cthe_bool,%20theColor", "the_int32", "the_bool", "the_color"],
    ["may be everything", "updateMask=*", "*"],
    ["may use an explicit JSON name", "updateMask=own_name_in_json", "own_name"],
    [
      "keeps unknown paths as they are",
      "updateMask=noSuchField,theChild.noSuchField,a..b,__proto__",
      "noSuchField",
      "theChild.noSuchField",
      "a..b",
      "__proto__",
    ],
    ["keeps a path twice", "updateMask=theInt32,the_int32", "the_int32", "the_int32"],
    ["may name the field of the path", "updateMask=theString", "the_string"],
    ["F2: counts as absent if it is empty", "updateMask=", "the_float"],
    ["F2: counts as absent if it is blank", "updateMask=%20", "the_float"],
  ];
  for (const [rule, query, ...mask] of cases) {
    it(rule, () => assert.deepEqual(maskOf(update, `/things/a?${query}`, '{"theFloat":1}'), mask));
  }
});
