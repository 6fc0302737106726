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
const sha = "9f3182061f1e2cca4702c368cbc039b7dc9d4485";

const gitHubClaims = {
  actor: "erin",
  actor_id: "9",
  base_ref: "",
  event_name: "push",
  head_ref: "",
  job_workflow_ref: "acme/app/.github/workflows/ci.yaml@refs/heads/main",
  job_workflow_sha: sha,
  ref: "refs/heads/main",
  ref_protected: "false",
  ref_type: "branch",
  repository: "acme/app",
  repository_id: "74",
  repository_owner: "acme",
  repository_owner_id: "12",
  repository_visibility: "private",
  run_attempt: "1",
  run_id: "1000",
  run_number: "10",
  runner_environment: "github-hosted",
  sha,
  workflow: "ci",
  workflow_ref: "acme/app/.github/workflows/ci.yaml@refs/heads/main",
  workflow_sha: sha,
};

const azureTenant = "0a1b2c3d-0000-4000-8000-000000000003";
const azureClaims = {
  idp: `https://sts.windows.net/${azureTenant}/`,
  oid: "0a1b2c3d-0000-4000-8000-000000000004",
  tid: azureTenant,
  uti: "x0aQ",
};

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
      ...gitHubClaims,
    },
    exact: { repository: "acme/app", repository_id: "74" },
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
      sub: "repo:acme@12/app@74:ref:refs/heads/main",
      aud: "https://github.com/acme",
      ...gitHubClaims,
      environment: "prod",
    },
    exact: { environment: "prod" },
    patterns: [
      "https://token\\.actions\\.githubusercontent\\.com",
      "repo:acme@12/app@74:.*",
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
      namespace_id: "12",
      namespace_path: "acme",
      project_id: "74",
      project_path: "acme/app",
      project_visibility: "private",
      user_id: "9",
      user_login: "erin",
      user_email: "erin@acme.example",
      user_access_level: "maintainer",
      pipeline_id: "1000",
      pipeline_source: "push",
      job_id: "2000",
      ref: "main",
      ref_type: "branch",
      ref_path: "refs/heads/main",
      ref_protected: "true",
      runner_id: 12270837,
      runner_environment: "gitlab-hosted",
      sha,
      ci_config_ref_uri: "gitlab.com/acme/app//.gitlab-ci.yml@refs/heads/main",
      ci_config_sha: sha,
    },
    exact: { project_id: "74", ref_protected: "true", runner_id: "12270837" },
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
      google: {
        compute_engine: {
          instance_creation_timestamp: 1764000000,
          instance_id: "1234567890123456789",
          instance_name: "build-1",
          project_id: "acme",
          project_number: 123456789012,
          zone: "europe-west4-a",
        },
      },
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
        "kubernetes.io": {
          namespace: "ns",
          node: { name: "node-1", uid: "0a1b2c3d-0000-4000-8000-000000000006" },
          pod: { name: "deployer", uid: "0a1b2c3d-0000-4000-8000-000000000007" },
          serviceaccount: { name: "deployer", uid: "0a1b2c3d-0000-4000-8000-000000000008" },
        },
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
      "https://sts.amazonaws.com/": {
        aws_account: "123456789012",
        source_region: "eu-central-1",
        org_id: "o-abc1234567",
        principal_id: "arn:aws:iam::123456789012:role/deployer",
      },
    },
    exact: {},
    patterns: [
      "https://[0-9a-f-]{36}\\.tokens\\.sts\\.global\\.api\\.aws",
      "arn:aws:iam::123456789012:(role|user)/.+",
      "https://gatehouse\\.example",
      {},
    ],
  },
  ...[
    {
      name: "Azure",
      iss: `https://login.microsoftonline.com/${azureTenant}/v2.0`,
      aud: "0a1b2c3d-0000-4000-8000-000000000005",
      further: { azp: "0a1b2c3d-0000-4000-8000-000000000009", azpacr: "2", ver: "2.0" },
      pattern: "https://login\\.microsoftonline\\.com/[0-9a-f-]{36}/v2\\.0",
    },
    {
      name: "Azure, version 1",
      iss: `https://sts.windows.net/${azureTenant}/`,
      aud: "api://gatehouse",
      further: { appid: "0a1b2c3d-0000-4000-8000-000000000009", appidacr: "2", ver: "1.0" },
      pattern: "https://sts\\.windows\\.net/[0-9a-f-]{36}/",
    },
  ].map(
    ({ name, iss, aud, further, pattern }): Shape => ({
      name,
      alg: "RS256",
      claims: { iss, sub: azureClaims.oid, aud, ...azureClaims, ...further },
      exact: { tid: azureTenant },
      patterns: [pattern, "[0-9a-f-]{36}", "[0-9a-z/:-]+", { oid: "[0-9a-f-]+" }],
    }),
  ),
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
      sub: `organization:acme:pipeline:app:ref:refs/heads/main:commit:${sha}:step:build`,
      aud: us,
      organization_slug: "acme",
      pipeline_slug: "app",
      build_number: 42,
      build_branch: "main",
      build_commit: sha,
      step_key: "build",
      job_id: "0184990a-477b-4fa8-9968-496074483cee",
      agent_id: "0184990a-4782-42b5-afc1-16715b10b8ff",
      build_source: "webhook",
      runner_environment: "self-hosted",
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
