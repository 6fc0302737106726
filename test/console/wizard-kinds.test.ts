// Tests of the identity wizard: it accepts tokens of the chosen workload and rejects those of others.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { type Values, wizardKinds } from "../../console/src/views/workloads/wizard-kinds.ts";
import { guideOf, tasks } from "../../console/src/views/workloads/wizard-script.ts";
import { IdentitySchema } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { checkRelationship } from "../../src/sts/identity-rules.ts";
import { issuer, startTime } from "../authn/token-fixtures.ts";
import { openExchange, outcome, outsideClaims, uid } from "../sts/exchange-fixtures.ts";
import { keyPair, network, signOutside } from "../sts/outside.ts";

interface Example {
  readonly kind: string;
  readonly values: Values;
  readonly iss: string;
  /** Claims of tokens that are exchanged. */
  readonly accepted: readonly object[];
  /** Claims of tokens that are denied. */
  readonly denied: readonly object[];
}

const github = "https://token.actions.githubusercontent.com";
const repository = "acme/app.js";
const main = { sub: "repo:acme/app.js:ref:refs/heads/main", repository, ref: "refs/heads/main" };
const numbered = { ...main, sub: "repo:acme@123456/app.js@654321:ref:refs/heads/main" };
const production = { ...main, sub: "repo:acme/app.js:environment:production" };
const protectedMain = { sub: "project_path:acme/app:ref_type:branch:ref:main", ref_protected: "true" };
const tenant = "0a1b2c3d-0000-4000-8000-000000000003";
const build = "organization:acme:pipeline:app:ref:refs/heads/main:commit:abc:step:build";

const examples: readonly Example[] = [
  {
    kind: "github",
    values: { repo: repository, branch: "main" },
    iss: github,
    accepted: [main, numbered],
    denied: [
      { ...main, sub: "repo:acme/app.js:ref:refs/heads/main2", ref: "refs/heads/main2" },
      { ...main, sub: "repo:acme/app.js:pull_request", ref: "refs/pull/1/merge" },
      { ...main, sub: "repo:acme/app_js:ref:refs/heads/main", repository: "acme/app_js" },
      { ...main, sub: "repo:acme@evil/app.js:ref:refs/heads/main" },
      { ...main, repository: "acme/other" },
      production,
    ],
  },
  {
    kind: "github",
    values: { repo: repository, branch: "main", environment: "production" },
    iss: github,
    accepted: [production],
    denied: [{ ...production, ref: "refs/heads/feature" }, main],
  },
  {
    kind: "github",
    values: { repo: repository },
    iss: github,
    accepted: [main, numbered, { ...main, sub: "repo:acme/app.js:ref:refs/tags/v1", ref: "refs/tags/v1" }],
    denied: [{}, production, { ...main, sub: "repo:acme/app.js:pull_request", ref: "refs/pull/1/merge" }],
  },
  {
    kind: "github",
    values: { repo: repository, branch: "main", repoId: "654321", ownerId: "123456" },
    iss: github,
    accepted: [
      { ...main, repository_id: "654321", repository_owner_id: "123456" },
      { ...numbered, repository_id: "654321", repository_owner_id: "123456" },
    ],
    denied: [
      main,
      { ...main, repository_id: "654321" },
      { ...main, repository_id: "999", repository_owner_id: "123456" },
      { ...numbered, repository_id: "654321", repository_owner_id: "999" },
      {
        ...main,
        sub: "repo:acme@999/app.js@654321:ref:refs/heads/main",
        repository_id: "654321",
        repository_owner_id: "123456",
      },
    ],
  },
  {
    kind: "github",
    values: { repo: repository, environment: "eu:1" },
    iss: github,
    accepted: [{ ...main, sub: "repo:acme/app.js:environment:eu%3A1" }],
    denied: [{ ...main, sub: "repo:acme/app.js:environment:eu:1" }],
  },
  {
    kind: "gitlab",
    values: { issuer: "https://gitlab.acme.example", project: "acme/app", branch: "main", environment: "production" },
    iss: "https://gitlab.acme.example",
    accepted: [{ ...protectedMain, environment: "production" }],
    denied: [
      protectedMain,
      { ...protectedMain, environment: "production", ref_protected: "false" },
      { ...protectedMain, sub: "project_path:acme/app:ref_type:tag:ref:main", environment: "production" },
    ],
  },
  {
    kind: "gitlab",
    values: { issuer: "https://gitlab.com", project: "acme/app", projectId: "74", namespaceId: "12" },
    iss: "https://gitlab.com",
    accepted: [
      { ...protectedMain, project_id: "74", namespace_id: "12" },
      { ...protectedMain, sub: "project_path:acme/app:ref_type:tag:ref:v1", project_id: "74", namespace_id: "12" },
    ],
    denied: [
      protectedMain,
      { ...protectedMain, project_id: "888", namespace_id: "12" },
      { ...protectedMain, project_id: "74", namespace_id: "999" },
      { ...protectedMain, sub: "project_path:acme/app2:ref_type:tag:ref:v1", project_id: "74", namespace_id: "12" },
    ],
  },
  {
    kind: "kubernetes",
    values: { issuer: "https://oidc.eks.eu-west-1.amazonaws.com/id/0A1B", namespace: "ns", account: "deployer" },
    iss: "https://oidc.eks.eu-west-1.amazonaws.com/id/0A1B",
    accepted: [{ sub: "system:serviceaccount:ns:deployer" }],
    denied: [{ sub: "system:serviceaccount:other:deployer" }],
  },
  {
    kind: "google",
    values: { account: "123456789012345678901" },
    iss: "https://accounts.google.com",
    accepted: [{ sub: "123456789012345678901" }],
    denied: [{ sub: "1234567890123456789010" }],
  },
  {
    kind: "azure",
    values: { tenant, object: "someone", audience: "api://gatehouse" },
    iss: `https://sts.windows.net/${tenant}/`,
    accepted: [{ sub: "someone", aud: "api://gatehouse" }],
    denied: [{ sub: "someone", aud: issuer }],
  },
  {
    kind: "oidc",
    values: { issuer: "https://issuer.acme.example", subject: "build", audience: "" },
    iss: "https://issuer.acme.example",
    accepted: [{ sub: "build" }],
    denied: [{ sub: "build2" }, { sub: "build", aud: "https://other.example" }],
  },
  {
    kind: "buildkite",
    values: { organization: "acme", pipeline: "app", branch: "main" },
    iss: "https://agent.buildkite.com",
    accepted: [{ sub: build }],
    denied: [{ sub: build.replace("heads/main", "heads/other") }, { sub: build.replace(":app:", ":app2:") }],
  },
  {
    kind: "buildkite",
    values: { organization: "acme", pipeline: "app" },
    iss: "https://agent.buildkite.com",
    accepted: [{ sub: build.replace("heads/main", "tags/v1") }],
    denied: [{ sub: build.replace(":app:", ":app2:") }],
  },
];

describe("the wizard of identities", () => {
  const key = keyPair("RS256");
  for (const { kind: id, values, iss, accepted, denied } of examples) {
    it(`accepts tokens of ${id} with ${JSON.stringify(values)}, and no others`, async () => {
      const kind = wizardKinds.find((one) => one.id === id)!;
      const relationship = kind.relationshipOf(values);
      const options = { allowInsecureIssuers: false, now: startTime, createTime: startTime };
      assert.deepEqual(checkRelationship(create(IdentitySchema, { relationship }), options), []);
      const run = async (claims: object) => {
        const exchange = await openExchange(network([iss], key));
        exchange.add("org/id", relationship);
        const token = await signOutside(key, outsideClaims({ iss, ...claims }));
        return await outcome(exchange.run({ identity: uid("org/id") }, token));
      };
      for (const claims of accepted) assert.equal(await run(claims), "OK", JSON.stringify(claims));
      for (const claims of denied) assert.match(await run(claims), /^PERMISSION_DENIED/, JSON.stringify(claims));
    });
  }

  it("makes an identity of AWS that the rules accept", () => {
    const relationship = wizardKinds
      .find(({ id }) => id === "aws")!
      .relationshipOf({ account: "123456789012", role: "build" });
    const options = { allowInsecureIssuers: false, now: startTime, createTime: startTime };
    assert.deepEqual(checkRelationship(create(IdentitySchema, { relationship }), options), []);
  });

  for (const kind of wizardKinds)
    for (const task of tasks)
      it(`names server, identity and audiences in what ${kind.id} copies to ${task.id}, with no program but curl and sed`, () => {
        const values = Object.fromEntries(kind.fields.map(({ name, placeholder }) => [name, placeholder]));
        const about = { uid: "0123/45", url: "https://gatehouse.example", values, task, host: "registry.example" };
        const text = guideOf(kind.id, about);
        const registry = task.isOfRegistry ? "&aud=registry.example" : "";
        assert.ok(
          text.includes(
            `https://gatehouse.example/sts/exchange?aud=https://gatehouse.example${registry}&identity=0123/45"`,
          ),
        );
        assert.doesNotMatch(text, /\bjq\b|gatehouse auth|docker/);
      });
});
