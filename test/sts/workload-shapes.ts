// Tokens as the issuers that workloads have make them, and how identities name them.

/** A token of a kind of workload. */
export interface Shape {
  readonly name: string;
  readonly alg: string;
  readonly claims: { readonly iss: string; readonly sub: string; readonly aud: string | readonly string[] } & Readonly<
    Record<string, unknown>
  >;
  /** The further claims that an identity asks for, exactly. */
  readonly exact: Readonly<Record<string, string>>;
  /** The same by patterns: issuer, subject, audience, further claims. */
  readonly patterns: readonly [
    issuer: string,
    subject: string,
    audience: string,
    claims: Readonly<Record<string, string>>,
  ];
}

const us = "https://gatehouse.example";
const repoUuid = "{8f0c2a1e-0000-4000-8000-000000000001}";

/** The kinds of clients.md §7. */
export const shapes: readonly Shape[] = [
  {
    name: "GitHub Actions",
    alg: "RS256",
    claims: {
      iss: "https://token.actions.githubusercontent.com",
      sub: "repo:acme/app:ref:refs/heads/main",
      aud: us,
      ref: "refs/heads/main",
      repository: "acme/app",
      repository_id: "654321",
      repository_owner: "acme",
      job_workflow_ref: "acme/app/.github/workflows/ci.yaml@refs/heads/main",
      event_name: "push",
    },
    exact: { repository: "acme/app", repository_id: "654321" },
    patterns: [
      "https://token\\.actions\\.githubusercontent\\.com",
      "repo:acme/[^/:]+:ref:refs/heads/(main|release-.+)",
      "https://gatehouse\\.example",
      { job_workflow_ref: "acme/app/\\.github/workflows/.+@refs/heads/main", event_name: "push|schedule" },
    ],
  },
  {
    name: "GitHub Actions, immutable subject",
    alg: "RS256",
    claims: {
      iss: "https://token.actions.githubusercontent.com",
      sub: "repo:acme@123456/app@654321:ref:refs/heads/main",
      aud: "https://github.com/acme",
      environment: "prod",
    },
    exact: { environment: "prod" },
    patterns: [
      "https://token\\.actions\\.githubusercontent\\.com",
      "repo:acme@123456/app@654321:.*",
      "https://github\\.com/acme",
      { environment: "prod|staging" },
    ],
  },
  {
    name: "GitLab",
    alg: "RS256",
    claims: {
      iss: "https://gitlab.com",
      sub: "project_path:acme/app:ref_type:branch:ref:main",
      aud: [us, "https://other.example"],
      project_id: "4711",
      ref_protected: "true",
      runner_id: 12270837,
    },
    exact: { project_id: "4711", ref_protected: "true", runner_id: "12270837" },
    patterns: [
      "https://gitlab\\.com",
      "project_path:acme/.+:ref_type:branch:ref:main",
      "https://gatehouse\\.example",
      { runner_id: "\\d{8}", ref_protected: "true" },
    ],
  },
  {
    name: "a Google service account",
    alg: "RS256",
    claims: {
      iss: "https://accounts.google.com",
      sub: "123456789012345678901",
      aud: us,
      azp: "123456789012345678901",
      email: "ci@acme.iam.gserviceaccount.com",
      email_verified: true,
    },
    exact: { email: "ci@acme.iam.gserviceaccount.com", email_verified: "true" },
    patterns: [
      "https://accounts\\.google\\.com",
      "\\d{21}",
      "https://gatehouse\\.example",
      { email: ".+@acme\\.iam\\.gserviceaccount\\.com", email_verified: "true" },
    ],
  },
  ...[
    "https://container.googleapis.com/v1/projects/p/locations/l/clusters/c",
    "https://oidc.eks.eu-west-1.amazonaws.com/id/0A1B",
  ].map(
    (iss): Shape => ({
      name: `Kubernetes at ${new URL(iss).host}`,
      alg: "RS256",
      claims: {
        iss,
        sub: "system:serviceaccount:ns:deployer",
        aud: [us],
        "kubernetes.io": { namespace: "ns", serviceaccount: { name: "deployer", uid: "1" } },
      },
      exact: {},
      patterns: [iss.replaceAll(".", "\\."), "system:serviceaccount:ns:.+", "https://gatehouse\\.example", {}],
    }),
  ),
  {
    name: "AWS outbound federation",
    alg: "ES384",
    claims: {
      iss: "https://0a1b2c3d-0000-4000-8000-000000000002.tokens.sts.global.api.aws",
      sub: "arn:aws:iam::123456789012:role/deployer",
      aud: us,
      "https://sts.amazonaws.com/": { aws_account: "123456789012", principal_id: "AROA" },
    },
    exact: {},
    patterns: [
      "https://[0-9a-f-]{36}\\.tokens\\.sts\\.global\\.api\\.aws",
      "arn:aws:iam::123456789012:(role|user)/.+",
      "https://gatehouse\\.example",
      {},
    ],
  },
  {
    name: "Azure",
    alg: "RS256",
    claims: {
      iss: "https://login.microsoftonline.com/0a1b2c3d-0000-4000-8000-000000000003/v2.0",
      sub: "0a1b2c3d-0000-4000-8000-000000000004",
      aud: "0a1b2c3d-0000-4000-8000-000000000005",
      tid: "0a1b2c3d-0000-4000-8000-000000000003",
      oid: "0a1b2c3d-0000-4000-8000-000000000004",
    },
    exact: { tid: "0a1b2c3d-0000-4000-8000-000000000003" },
    patterns: [
      "https://login\\.microsoftonline\\.com/[0-9a-f-]{36}/v2\\.0",
      "[0-9a-f-]{36}",
      "[0-9a-f-]{36}",
      { oid: "[0-9a-f-]+" },
    ],
  },
  {
    name: "Bitbucket",
    alg: "RS256",
    claims: {
      iss: "https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc",
      sub: `${repoUuid}:{8f0c2a1e-0000-4000-8000-000000000002}`,
      aud: "ari:cloud:bitbucket::workspace/8f0c2a1e-0000-4000-8000-000000000003",
      repositoryUuid: repoUuid,
      branchName: "main",
    },
    exact: { repositoryUuid: repoUuid, branchName: "main" },
    patterns: [
      "https://api\\.bitbucket\\.org/2\\.0/workspaces/acme/pipelines-config/identity/oidc",
      "\\{8f0c2a1e-0000-4000-8000-000000000001\\}:.+",
      "ari:cloud:bitbucket::workspace/.*",
      { branchName: "main|release/.*" },
    ],
  },
  {
    name: "Buildkite",
    alg: "RS256",
    claims: {
      iss: "https://agent.buildkite.com",
      sub: "organization:acme:pipeline:app:ref:refs/heads/main:commit:abc:step:build",
      aud: us,
      pipeline_slug: "app",
      build_number: 42,
    },
    exact: { pipeline_slug: "app", build_number: "42" },
    patterns: [
      "https://agent\\.buildkite\\.com",
      "organization:acme:pipeline:app:ref:refs/heads/main:commit:[0-9a-f]+:step:build",
      "https://gatehouse\\.example",
      { build_number: "[1-9]\\d*" },
    ],
  },
  {
    name: "Keycloak",
    alg: "ES256",
    claims: { iss: "https://sso.acme.example/realms/ci", sub: "0a1b", aud: ["account", "realm"], azp: "ci" },
    exact: { azp: "ci" },
    patterns: ["https://sso\\.acme\\.example/realms/(ci|cd)", "0a1b", "account", { azp: "c." }],
  },
  {
    name: "Jenkins",
    alg: "RS256",
    claims: {
      iss: "https://ci.acme.example/oidc",
      sub: "https://ci.acme.example/job/app/",
      aud: "free",
      build_number: 7,
    },
    exact: { build_number: "7" },
    patterns: [
      "https://ci\\.acme\\.example/oidc",
      "https://ci\\.acme\\.example/job/.+",
      "free",
      { build_number: "\\d" },
    ],
  },
];
