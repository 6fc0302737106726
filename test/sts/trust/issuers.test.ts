import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { Identity_ClaimMatchSchema } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { isNeverStored, issuerOf, workloadIssuers } from "../../../src/sts/trust/issuers.ts";
import { formatShape, parseShape } from "../../../src/sts/trust/token-shape.ts";

/** A token of each issuer with names, and those that are read from it. */
const tokens: readonly (readonly [
  title: string,
  claims: Readonly<Record<string, unknown>>,
  names: readonly (readonly [kind: string, name: string | undefined, id: string | undefined])[],
  isPinnedAtFirstUse: boolean,
])[] = [
  [
    "GitHub",
    {
      iss: "https://token.actions.githubusercontent.com",
      repository: "acme/app",
      repository_id: "74",
      repository_owner: "acme",
      repository_owner_id: "12",
    },
    [
      ["owner", "acme", "12"],
      ["repository", "acme/app", "74"],
    ],
    true,
  ],
  [
    "GitHub for an enterprise with its own path",
    { iss: "https://token.actions.githubusercontent.com/acme", repository_owner: "acme" },
    [
      ["owner", "acme", undefined],
      ["repository", undefined, undefined],
    ],
    true,
  ],
  [
    "GitHub Enterprise Server",
    { iss: "https://git.example.org/_services/token", repository_owner: "acme", repository_owner_id: "1" },
    [
      ["owner", "acme", "1"],
      ["repository", undefined, undefined],
    ],
    false,
  ],
  [
    "gitlab.com",
    {
      iss: "https://gitlab.com",
      project_path: "acme/app",
      project_id: "74",
      namespace_path: "acme",
      namespace_id: "12",
    },
    [
      ["namespace", "acme", "12"],
      ["project", "acme/app", "74"],
    ],
    true,
  ],
  [
    "a GitLab server of one's own",
    { iss: "https://git.example.org", project_path: "acme/app", project_id: 74 },
    [
      ["namespace", undefined, undefined],
      ["project", "acme/app", "74"],
    ],
    false,
  ],
  [
    "HCP Terraform",
    {
      iss: "https://app.terraform.io",
      terraform_organization_name: "acme",
      terraform_organization_id: "org-1",
      terraform_workspace_name: "app",
      terraform_workspace_id: "ws-2",
    },
    [
      ["organization", "acme", "org-1"],
      ["workspace", "acme/app", "ws-2"],
    ],
    true,
  ],
  [
    "Buildkite, whose jobs ask for ids",
    { iss: "https://agent.buildkite.com", organization_slug: "acme", pipeline_slug: "app", pipeline_id: "0184" },
    [
      ["organization", "acme", undefined],
      ["pipeline", "acme/app", "0184"],
    ],
    true,
  ],
  [
    "Bitbucket",
    {
      iss: "https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc",
      workspaceUuid: "{8f0c}",
      repositoryUuid: "{9a1b}",
    },
    [["workspace", "acme", "{8f0c}"]],
    true,
  ],
  [
    "Kubernetes",
    {
      iss: "https://oidc.eks.eu-west-1.amazonaws.com/id/0A1B",
      "kubernetes.io": { namespace: "ns", serviceaccount: { name: "app", uid: "5c1e" }, pod: { name: "app-x7k" } },
    },
    [["service_account", "ns/app", "5c1e"]],
    false,
  ],
  ["CircleCI, whose subject is an id", { iss: "https://oidc.circleci.com/org/0a1b" }, [], false],
];

for (const [title, claims, names, isPinnedAtFirstUse] of tokens)
  test(`the catalogue reads the names and ids of a token of ${title}`, () => {
    const issuer = issuerOf(claims);
    assert.deepEqual(
      issuer?.kinds.map(({ kind, nameOf, idOf }) => [kind, nameOf(claims), idOf(claims)]),
      names,
    );
    assert.equal(issuer?.isPinnedAtFirstUse(String(claims.iss)), isPinnedAtFirstUse);
  });

test("an issuer that the catalogue does not know has no names", () => {
  assert.equal(issuerOf({ iss: "https://sso.example.org/realms/ci", sub: "0a1b" }), undefined);
});

test("an issuer whose URL only begins as one of the catalogue is another", () => {
  for (const iss of [
    "https://token.actions.githubusercontent.com.evil.example",
    "https://agent.buildkite.com.evil.example",
    "https://app.terraform.io/x",
    "https://api.bitbucket.org/2.0/workspaces/a/b/pipelines-config/identity/oidc",
  ])
    assert.equal(issuerOf({ iss }), undefined, iss);
});

test("no claim that may be stored says who started a job, or differs in each job", () => {
  const allowed = workloadIssuers.flatMap(({ storable }) => storable);
  assert.deepEqual(allowed.filter(isNeverStored), []);
  for (const name of [
    "actor",
    "actor_id",
    "email",
    "name",
    "user_login",
    "user_access_level",
    "sha",
    "jti",
    "run_id",
    "build_number",
    "workflow_sha",
  ])
    assert.ok(isNeverStored(name) && !allowed.includes(name), name);
});

test("of a token only the claims on the list may be stored, and of a pod only its service account", () => {
  const marker = "marker";
  const common = {
    sub: "s",
    aud: "a",
    actor: marker,
    email: marker,
    sha: marker,
    user_login: marker,
    jti: marker,
    other: marker,
  };
  for (const [title, claims] of tokens) {
    const stored = parseShape(formatShape(create(Identity_ClaimMatchSchema), { ...claims, ...common }));
    assert.doesNotMatch(JSON.stringify(stored), /marker|x7k/, title);
    assert.equal(stored.iss, claims.iss, title);
  }
});
