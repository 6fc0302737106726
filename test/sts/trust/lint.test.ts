// Whom rules let in by mistake: rules that are too wide with the finding that must be there, and careful rules without an error.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  type Identity_ClaimMatch,
  Identity_ClaimMatchSchema,
} from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { exactAudiences } from "../../../src/sts/audiences.ts";
import { matchClaims } from "../../../src/sts/claim-match.ts";
import { newStepBudget } from "../../../src/sts/patterns/step-budget.ts";
import { lintRule } from "../../../src/sts/trust/lint.ts";

const gitHub = "https://token.actions.githubusercontent.com";
const gitLab = "https://gitlab.com";
const cluster = "https://oidc.eks.eu-west-1.amazonaws.com/id/0A1B";
const terraform = "https://app.terraform.io";
const buildkite = "https://agent.buildkite.com";
const audiences = exactAudiences("https://gatehouse.example");

interface Rule {
  readonly issuer: string;
  readonly subject: string | RegExp;
  readonly claims?: Record<string, string>;
  readonly patterns?: Record<string, string>;
}

function matchOf({ issuer, subject, claims = {}, patterns: claimPatterns = {} }: Rule): Identity_ClaimMatch {
  const isPattern = /\\|\.\*|\[/.test(issuer);
  return create(Identity_ClaimMatchSchema, {
    iss: isPattern ? { case: "issuerPattern", value: issuer } : { case: "issuer", value: issuer },
    // In the source of an expression, a slash has a backslash before it.
    sub:
      typeof subject === "string"
        ? { case: "subject", value: subject }
        : { case: "subjectPattern", value: subject.source.replaceAll("\\/", "/") },
    claims,
    claimPatterns,
  });
}

const broad: readonly (readonly [rule: Rule, kind: "error" | "warning", who: RegExp])[] = [
  [{ issuer: gitHub, subject: /repo:.*/ }, "error", /^a repository of another owner$/],
  [{ issuer: gitHub, subject: /.*:ref:refs\/heads\/main/ }, "error", /^a repository of another owner$/],
  [{ issuer: gitHub, subject: /repo:acme.*/ }, "error", /another owner that begins the same/],
  [{ issuer: gitHub, subject: /repo:.*acme\/app:ref:refs\/heads\/main/ }, "error", /another owner that ends the same/],
  [{ issuer: gitHub, subject: /repo:[^/]+\/app:ref:refs\/heads\/main/ }, "error", /^a repository of another owner$/],
  [{ issuer: gitHub, subject: /repo:acme\/.*/ }, "warning", /^another repository/],
  [{ issuer: gitHub, subject: /repo:acme\/app.*/ }, "error", /repository of the owner that begins the same/],
  [
    { issuer: gitHub, subject: /repo:acme\/.*app:ref:refs\/heads\/main/ },
    "error",
    /repository of the owner that ends the same/,
  ],
  [
    { issuer: gitHub, subject: /repo:acme\/my.app:ref:refs\/heads\/main/ },
    "error",
    /another character in place of a dot/,
  ],
  [{ issuer: gitHub, subject: /repo:acme\/app:.*/ }, "error", /^a pull request$/],
  [{ issuer: gitHub, subject: "repo:acme/app:pull_request" }, "error", /^a pull request, before anyone approved it$/],
  [
    { issuer: gitHub, subject: /repo:acme\/app:ref:refs\/heads\/(main|dev.*)/ },
    "error",
    /^another branch that begins the same$/,
  ],
  [
    { issuer: gitHub, subject: /repo:acme\/app:.*/, patterns: { ref: ".*/v[0-9]+" } },
    "error",
    /^a tag with the name of the branch$/,
  ],
  [
    { issuer: "https://gitlab\\..*", subject: "project_path:acme/app:ref_type:branch:ref:main" },
    "warning",
    /^another issuer/,
  ],
  [
    { issuer: terraform, subject: /organization:acme.*:workspace:app:run_phase:apply/ },
    "error",
    /^a workspace of another organization that begins the same$/,
  ],
  [
    {
      issuer: "https://container\\.googleapis\\.com/v1/projects/acme-.*/clusters/.*",
      subject: "system:serviceaccount:ci:deployer",
    },
    "warning",
    /^another issuer/,
  ],
  [
    { issuer: "https://cluster.example.org", subject: "system:serviceaccount:ci:default" },
    "warning",
    /^every pod of the namespace without a service account of its own$/,
  ],
  [{ issuer: gitHub, subject: /repo:acme\/app:(ref:.*|pull_request)/ }, "error", /^a pull request$/],
  [{ issuer: gitHub, subject: /repo:acme\/app:ref:.*/ }, "warning", /^another branch$/],
  [
    { issuer: gitHub, subject: /repo:acme\/app:ref:refs\/heads\/main.*/ },
    "error",
    /another branch that begins the same/,
  ],
  [
    { issuer: gitHub, subject: /repo:acme\/app:ref:refs\/(heads|tags)\/main/ },
    "error",
    /^a tag with the name of the branch$/,
  ],
  [{ issuer: gitHub, subject: /repo:acme\/app:environment:.*/ }, "warning", /^another environment$/],
  [
    { issuer: gitHub, subject: /repo:acme\/app:environment:prod.*/ },
    "warning",
    /another environment that begins the same/,
  ],
  [{ issuer: gitHub, subject: "repo:acme/app:ref:refs/heads/main" }, "warning", /later owner of the names/],
  [
    { issuer: gitHub, subject: /repo:acme(@[0-9]+)?\/app(@[0-9]+)?:ref:refs\/heads\/main/ },
    "warning",
    /later owner of the names/,
  ],
  [{ issuer: gitHub, subject: /.*/, claims: { repository_owner: "acme" } }, "error", /^a pull request$/],
  [
    { issuer: gitHub, subject: /repo:acme\/.*/, patterns: { job_workflow_ref: ".*/deploy.yaml@refs/heads/main" } },
    "error",
    /reusable workflow of another owner/,
  ],
  [
    { issuer: gitHub, subject: /repo:acme\/.*/, patterns: { job_workflow_ref: "acme/workflows/.*" } },
    "warning",
    /another version of the workflow/,
  ],
  [{ issuer: gitLab, subject: /project_path:.*/ }, "error", /^a project of another namespace$/],
  [{ issuer: gitLab, subject: /project_path:acme.*/ }, "error", /another namespace that begins the same/],
  [{ issuer: gitLab, subject: /project_path:acme\/.*/ }, "warning", /^another project/],
  [{ issuer: gitLab, subject: /project_path:acme\/app:.*/ }, "error", /^a merge request$/],
  [{ issuer: gitLab, subject: /project_path:acme\/app:ref_type:branch:ref:.*/ }, "warning", /^another branch$/],
  [
    { issuer: gitLab, subject: /project_path:acme\/app:ref_type:.*:ref:main/ },
    "error",
    /tag with the name of the branch/,
  ],
  [{ issuer: gitLab, subject: "project_path:acme/app:ref_type:branch:ref:main" }, "warning", /unprotected branch/],
  [{ issuer: gitLab, subject: /.*/, claims: { namespace_path: "acme" } }, "error", /^a merge request$/],
  [
    { issuer: gitLab, subject: /project_path:acme\/app:.*/, claims: { environment: "production" } },
    "warning",
    /another branch/,
  ],
  [{ issuer: cluster, subject: /system:serviceaccount:.*/ }, "error", /another namespace/],
  [{ issuer: cluster, subject: /system:serviceaccount:.*:deployer/ }, "error", /another namespace/],
  [
    { issuer: cluster, subject: /system:serviceaccount:prod.*:deployer/ },
    "error",
    /another namespace that begins the same/,
  ],
  [{ issuer: cluster, subject: /system:serviceaccount:ns:.*/ }, "warning", /another service account/],
  [{ issuer: terraform, subject: /organization:.*/ }, "error", /another organization/],
  [{ issuer: terraform, subject: /organization:acme:.*/ }, "warning", /another workspace/],
  [{ issuer: terraform, subject: /organization:acme:project:p:workspace:w:run_phase:.*/ }, "warning", /phase of a run/],
  [{ issuer: buildkite, subject: /organization:acme:pipeline:.*/ }, "warning", /another pipeline/],
  [{ issuer: buildkite, subject: /organization:acme.*/ }, "error", /another organization that begins the same/],
  [{ issuer: "https://ci\\.[a-z]+\\.example", subject: "build" }, "warning", /another issuer/],
  [{ issuer: "https://ci.acme.example", subject: /.*/ }, "error", /another subject/],
  [{ issuer: "https://ci.acme.example", subject: /build.*/ }, "error", /another subject that begins the same/],
  [
    { issuer: "https://accounts.google.com", subject: /.*/, claims: { email: "ci@acme.example" } },
    "warning",
    /later owner of the address/,
  ],
];

const careful: readonly Rule[] = [
  { issuer: gitHub, subject: "repo:acme/app:ref:refs/heads/main" },
  { issuer: gitHub, subject: "repo:acme@12/app@74:ref:refs/heads/main" },
  { issuer: gitHub, subject: "repo:acme/app:environment:production" },
  { issuer: gitHub, subject: "repo:acme/my.app:ref:refs/heads/main" },
  { issuer: gitHub, subject: /repo:acme\/app:ref:refs\/tags\/v.*/ },
  { issuer: gitHub, subject: /repo:acme\/app:ref:refs\/heads\/release\/.*/ },
  { issuer: gitHub, subject: /repo:acme\/app:ref:refs\/heads\/(main|release-.+)/ },
  { issuer: gitHub, subject: /repo:acme\/app:ref:refs\/heads\/[a-z]+/ },
  { issuer: gitHub, subject: /repo:acme\/my\.app:ref:refs\/heads\/main/ },
  {
    issuer: gitHub,
    subject: /repo:acme(@12)?\/app(@74)?:ref:refs\/heads\/main/,
    claims: { repository_id: "74", repository_owner_id: "12" },
  },
  { issuer: gitHub, subject: /repo:acme\/app:.*/, claims: { ref: "refs/heads/main", event_name: "push" } },
  {
    issuer: gitHub,
    subject: /repo:acme\/.*:environment:production/,
    claims: { job_workflow_ref: "acme/workflows/.github/workflows/deploy.yaml@refs/heads/main" },
  },
  { issuer: gitLab, subject: "project_path:acme/app:ref_type:branch:ref:main", claims: { ref_protected: "true" } },
  {
    issuer: gitLab,
    subject: /project_path:acme\/app:.*/,
    claims: { environment: "production", ref_protected: "true" },
  },
  { issuer: gitLab, subject: /project_path:acme\/app:ref_type:tag:ref:v.*/, claims: { project_id: "74" } },
  { issuer: cluster, subject: "system:serviceaccount:ns:deployer" },
  { issuer: terraform, subject: "organization:acme:project:p:workspace:w:run_phase:apply" },
  { issuer: buildkite, subject: /organization:acme:pipeline:app:ref:refs\/heads\/main:commit:[0-9a-f]+:step:.*/ },
  { issuer: "https://ci.acme.example", subject: "build" },
  { issuer: "https://accounts.google.com", subject: "123456789012345678901" },
];

const textOf = ({ issuer, subject, ...more }: Rule) =>
  [issuer.replace("https://", ""), subject, ...Object.values(more).map((claims) => JSON.stringify(claims))].join(" ");

describe("lint of a rule", () => {
  for (const [rule, kind, who] of broad)
    it(`names ${who.source} for ${textOf(rule)}`, () => {
      const match = matchOf(rule);
      const { accepted, findings } = lintRule(match, audiences);
      assert.ok(accepted);
      const found = findings.find((finding) => who.test(finding.who));
      assert.ok(found, JSON.stringify(findings.map((finding) => finding.who)));
      assert.equal(found.isError ? "error" : "warning", kind);
      for (const { claims } of findings)
        assert.deepEqual(matchClaims(match, claims, audiences, newStepBudget()), { ok: true }, JSON.stringify(claims));
    });

  for (const rule of careful)
    it(`has no error for ${textOf(rule)}`, () => {
      const { accepted, findings } = lintRule(matchOf(rule), audiences);
      assert.ok(accepted);
      assert.deepEqual(
        findings.filter(({ isError }) => isError),
        [],
      );
    });

  it("says that a rule may never match if no token is found", () => {
    const { accepted, findings } = lintRule(matchOf({ issuer: gitHub, subject: /a\bb/ }), audiences);
    assert.deepEqual([accepted, findings], [undefined, []]);
  });
});
