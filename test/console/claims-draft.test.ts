// Tests of the claims form: the request that it sends, and its warning about newly admitted tokens.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { pairsText, valuesText } from "../../console/src/shell/entries.ts";
import {
  type Draft,
  draftOf,
  effectsOf,
  identityOf,
  pathsOf,
  valuesOf,
} from "../../console/src/views/workloads/claims-draft.ts";
import { IdentitySchema } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";

const uid = "1".repeat(40);

type Relationship = NonNullable<MessageInitShape<typeof IdentitySchema>["relationship"]>;

function draft(relationship: Relationship): Draft {
  return draftOf(create(IdentitySchema, { uid, relationship }));
}

const ci = draft({
  case: "claimMatch",
  value: {
    iss: { case: "issuer", value: "https://ci.example.org" },
    sub: { case: "subjectPattern", value: "repo:.*" },
    aud: { case: "audiencePattern", value: "a|b" },
    claims: { ref: "main" },
    claimPatterns: { job: "build.*" },
  },
});

const changedOf = (before: Draft, after: Draft) => {
  const [then, now] = [valuesOf(before), valuesOf(after)];
  return Object.keys(now).filter((name) => now[name] !== then[name]);
};
const pathsTo = (after: Draft) => pathsOf(ci, after, changedOf(ci, after));
const withDemand = (name: string, value: string, isPattern: boolean): Draft => ({
  ...ci,
  demands: { ...ci.demands, [name]: { value, isPattern } },
});

describe("the form of claims", () => {
  it("sends an unedited identity back unchanged", () => {
    const relationships: readonly Relationship[] = [
      {
        case: "claimMatch",
        value: { iss: { case: "issuerPattern", value: "https://[^/]+" }, sub: { case: "subject", value: "s" } },
      },
      {
        case: "awsIdentity",
        value: {
          awsAccount: "1".repeat(12),
          awsArn: { case: "arnPattern", value: "arn:.*" },
          awsUserId: { case: "userIdPattern", value: ".*" },
        },
      },
      { case: "staticKeys", value: { issuer: "https://i.example.org", subject: "s", audiences: ["a"] } },
    ];
    for (const relationship of relationships) {
      const identity = create(IdentitySchema, { uid, relationship });
      assert.deepEqual(toJson(IdentitySchema, identityOf(uid, draftOf(identity))), toJson(IdentitySchema, identity));
    }
  });

  it("names a member of a oneof as it is set, or as it was before it was cleared", () => {
    assert.deepEqual(pathsTo(withDemand("subject", "repo:one", false)), ["claim_match.subject"]);
    assert.deepEqual(pathsTo(withDemand("issuer", "https://[^/]+", true)), ["claim_match.issuer_pattern"]);
    assert.deepEqual(pathsTo(withDemand("audience", "", false)), ["claim_match.audience_pattern"]);
    assert.deepEqual(pathsTo({ ...ci, claims: [], claimPatterns: [["", ""]] }), [
      "claim_match.claims",
      "claim_match.claim_patterns",
    ]);
  });

  it("says for each claim whether a change lets in more tokens, fewer or others", () => {
    const after: Draft = {
      ...ci,
      demands: { ...ci.demands, audience: { value: "", isPattern: false } },
      claims: [["environment", "production"]],
      claimPatterns: [["job", "build.*"]],
    };
    assert.deepEqual(effectsOf(ci, after, "this server"), [
      { claim: "aud", kind: "others", before: "/a|b/", after: "this server" },
      { claim: "ref", kind: "more", before: "main", after: "" },
      { claim: "environment", kind: "fewer", before: "", after: "production" },
    ]);
    assert.deepEqual(effectsOf(ci, { ...ci, claimPatterns: [["job", "build"]] }, "this server"), [
      { claim: "job", kind: "others", before: "/build.*/", after: "/build/" },
    ]);
  });

  it("compares key sets by the ids of their keys", () => {
    const keys = (kid: string) => JSON.stringify({ keys: [{ kid }] });
    const before = draft({ case: "staticKeys", value: { issuer: "i", subject: "s", issuerKeys: keys("one") } });
    const pasted: Draft = { ...before, keyChoice: "paste", pastedKeys: keys("two") };
    assert.deepEqual(changedOf(before, pasted), ["issuer_keys"]);
    assert.equal(valuesOf(pasted).issuer_keys, "two");
    assert.deepEqual(changedOf(before, { ...pasted, keyChoice: "make" }), ["issuer_keys"]);
    assert.deepEqual(changedOf(before, { ...pasted, keyChoice: "keep" }), []);
    assert.deepEqual(changedOf(before, before), []);
  });

  it("tells a value from a pattern that is written the same", () => {
    assert.deepEqual(changedOf(withDemand("subject", "a", true), withDemand("subject", "/a/", false)), ["subject"]);
    assert.deepEqual(
      changedOf(withDemand("subject", "/a/", false), withDemand("subject", JSON.stringify("/a/"), false)),
      ["subject"],
    );
  });

  it("says of static keys what they ask for, with the audience", () => {
    const before = draft({ case: "staticKeys", value: { issuer: "i", subject: "s" } });
    const after: Draft = { ...before, demands: { ...before.demands, audiences: { value: "a", isPattern: false } } };
    assert.deepEqual(effectsOf(before, after, "this server"), [
      { claim: "aud", kind: "others", before: "this server", after: "a" },
    ]);
  });
});

describe("the texts that forms compare", () => {
  it("texts of different entries differ", () => {
    const drafts = [
      [["a", "1, b=2"]],
      [
        ["a", "1"],
        ["b", "2"],
      ],
      [["a", '"1"']],
      [["a=1", "b"]],
      [["a", "1=b"]],
      [["a", ""]],
      [],
    ] as const;
    assert.equal(new Set(drafts.map(pairsText)).size, drafts.length);
    assert.equal(
      pairsText([
        ["b", "2"],
        ["a", "1"],
        ["", ""],
      ]),
      "a=1, b=2",
    );
  });

  it("texts of different values differ, and are empty without values", () => {
    const values = [
      ["1", ""],
      ["", "1"],
      ["1, ", ""],
      ["1", "2"],
      ["1 2", ""],
      ["", "1 2"],
      ["1, 2", ""],
    ];
    assert.equal(new Set(values.map(valuesText)).size, values.length);
    assert.equal(valuesText(["", ""]), "");
    assert.equal(valuesText(["one"]), "one");
  });
});
