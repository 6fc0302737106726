// How the tokens of the large issuers of workloads are built.

import type { Template, TokenForm, WorkloadModel } from "./workload-model.ts";

const gitHubClaims = {
  repository: "{owner}/{repository}",
  repository_owner: "{owner}",
  repository_id: "{repositoryId}",
  repository_owner_id: "{ownerId}",
  repository_visibility: "private",
  runner_environment: "github-hosted",
  job_workflow_ref: "{workflowOwner}/{workflowRepository}/.github/workflows/{workflow}@{workflowRef}",
  workflow_ref: "{owner}/{repository}/.github/workflows/{workflow}@{workflowRef}",
};
const branchClaims = { ref: "refs/heads/{branch}", ref_type: "branch", event_name: "push", base_ref: "" };

/** The forms of GitHub for one spelling of the repository: with and without the immutable ids. */
function gitHubForms(name: string, repository: Template): TokenForm[] {
  const idForm = (form: string) => (name === "" ? { idForm: `${form} with ids` } : {});
  return [
    {
      name: `branch${name}`,
      ...idForm("branch"),
      sub: `repo:${repository}:ref:refs/heads/{branch}`,
      claims: { ...gitHubClaims, ...branchClaims },
    },
    {
      name: `environment${name}`,
      ...idForm("environment"),
      sub: `repo:${repository}:environment:{environment}`,
      claims: { ...gitHubClaims, ...branchClaims, environment: "{environment}" },
    },
    {
      name: `tag${name}`,
      ...idForm("tag"),
      sub: `repo:${repository}:ref:refs/tags/{tag}`,
      claims: { ...gitHubClaims, ref: "refs/tags/{tag}", ref_type: "tag", event_name: "push" },
    },
    {
      name: `pull_request${name}`,
      ...idForm("pull_request"),
      openTo: "a pull request, before anyone approved it",
      sub: `repo:${repository}:pull_request`,
      claims: {
        ...gitHubClaims,
        ref: "refs/pull/17/merge",
        ref_type: "branch",
        event_name: "pull_request",
        base_ref: "{branch}",
        head_ref: "patch-1",
      },
    },
  ];
}

/** GitHub Actions. */
export const gitHub: WorkloadModel = {
  issuer: /^https:\/\/token\.actions\.githubusercontent\.com(?:\/|$)/,
  sampleIssuer: "https://token.actions.githubusercontent.com",
  forms: [
    ...gitHubForms("", "{owner}/{repository}"),
    ...gitHubForms(" with ids", "{owner}@{ownerId}/{repository}@{repositoryId}"),
  ],
  sample: {
    owner: "acme",
    ownerId: "12",
    repository: "app",
    repositoryId: "74",
    branch: "main",
    tag: "v1",
    environment: "production",
    workflowOwner: "acme",
    workflowRepository: "app",
    workflow: "ci.yaml",
    workflowRef: "refs/heads/main",
  },
  names: [
    { part: "owner", what: "a repository of another owner", isBoundary: true, ids: ["ownerId", "repositoryId"] },
    { part: "repository", what: "another repository of the owner", isBoundary: false, ids: ["repositoryId"] },
    { part: "environment", what: "another environment", isBoundary: false, isOpen: true },
    { part: "branch", what: "another branch", isBoundary: false },
    { part: "tag", what: "another tag", isBoundary: false, isOpen: true },
    { part: "workflowOwner", what: "a reusable workflow of another owner", isBoundary: true },
    { part: "workflowRef", what: "another version of the workflow", isBoundary: false },
  ],
  otherForms: ["", " with ids"].flatMap((name) => [
    {
      from: [`branch${name}`, `tag${name}`],
      to: `pull_request${name}`,
      what: "a pull request",
      isError: true,
    },
    {
      from: [`branch${name}`],
      to: `tag${name}`,
      what: "a tag with the name of the branch",
      isError: true,
      parts: { tag: "{branch}" },
      unlessAny: "branch",
    },
  ]),
  ids: ["ownerId", "repositoryId"],
};

const gitLabClaims = {
  namespace_path: "{namespace}",
  namespace_id: "{namespaceId}",
  project_path: "{namespace}/{project}",
  project_id: "{projectId}",
  ref_protected: "{isProtected}",
  ref_path: "refs/heads/{branch}",
  user_access_level: "developer",
};

/** GitLab CI. */
export const gitLab: WorkloadModel = {
  issuer: /^https:\/\/gitlab\./,
  sampleIssuer: "https://gitlab.com",
  forms: [
    {
      name: "branch",
      sub: "project_path:{namespace}/{project}:ref_type:branch:ref:{branch}",
      claims: { ...gitLabClaims, ref: "{branch}", ref_type: "branch", pipeline_source: "push" },
    },
    {
      name: "environment",
      sub: "project_path:{namespace}/{project}:ref_type:branch:ref:{branch}",
      claims: {
        ...gitLabClaims,
        ref: "{branch}",
        ref_type: "branch",
        pipeline_source: "push",
        environment: "{environment}",
        environment_protected: "{isProtected}",
      },
    },
    {
      name: "tag",
      sub: "project_path:{namespace}/{project}:ref_type:tag:ref:{tag}",
      claims: {
        ...gitLabClaims,
        ref: "{tag}",
        ref_type: "tag",
        ref_path: "refs/tags/{tag}",
        pipeline_source: "push",
      },
    },
    {
      name: "merge_request",
      openTo: "a merge request, before anyone approved it",
      sub: "project_path:{namespace}/{project}:ref_type:branch:ref:patch-1",
      claims: {
        ...gitLabClaims,
        ref: "patch-1",
        ref_type: "branch",
        ref_path: "refs/heads/patch-1",
        ref_protected: "false",
        pipeline_source: "merge_request_event",
      },
    },
  ],
  sample: {
    namespace: "acme",
    namespaceId: "12",
    project: "app",
    projectId: "74",
    branch: "main",
    tag: "v1",
    environment: "production",
    isProtected: "true",
  },
  names: [
    { part: "namespace", what: "a project of another namespace", isBoundary: true, ids: ["namespaceId", "projectId"] },
    { part: "project", what: "another project of the namespace", isBoundary: false, ids: ["projectId"] },
    { part: "environment", what: "another environment", isBoundary: false, isOpen: true },
    { part: "branch", what: "another branch", isBoundary: false },
    { part: "tag", what: "another tag", isBoundary: false, isOpen: true },
  ],
  otherForms: [
    { from: ["branch", "tag"], to: "merge_request", what: "a merge request", isError: true },
    {
      from: ["branch"],
      to: "tag",
      what: "a tag with the name of the branch",
      isError: true,
      parts: { tag: "{branch}" },
      unlessAny: "branch",
    },
    {
      from: ["branch", "environment"],
      what: "an unprotected branch",
      isError: false,
      parts: { isProtected: "false" },
    },
  ],
  ids: ["namespaceId", "projectId"],
};

const kubernetes: WorkloadModel = {
  issuer: /kubernetes|container\.googleapis\.com|oidc\.eks\.|oic\.prod-aks/,
  subject: /^system:serviceaccount:/,
  sampleIssuer: "https://kubernetes.default.svc",
  forms: [{ name: "service account", sub: "system:serviceaccount:{namespace}:{account}", claims: {} }],
  sample: { namespace: "ns", account: "deployer" },
  names: [
    { part: "namespace", what: "a service account of another namespace", isBoundary: true },
    { part: "account", what: "another service account of the namespace", isBoundary: false },
  ],
  otherForms: [],
  sharedValues: [
    { part: "account", value: "default", what: "every pod of the namespace without a service account of its own" },
  ],
  ids: [],
};

/** HCP Terraform. */
export const terraform: WorkloadModel = {
  issuer: /^https:\/\/app\.terraform\.io/,
  sampleIssuer: "https://app.terraform.io",
  forms: [
    {
      name: "run",
      sub: "organization:{organization}:project:{project}:workspace:{workspace}:run_phase:{phase}",
      claims: {
        terraform_organization_name: "{organization}",
        terraform_organization_id: "{organizationId}",
        terraform_project_name: "{project}",
        terraform_workspace_name: "{workspace}",
        terraform_workspace_id: "{workspaceId}",
        terraform_run_phase: "{phase}",
      },
    },
  ],
  sample: {
    organization: "acme",
    organizationId: "org-12",
    project: "default",
    workspace: "app",
    workspaceId: "ws-74",
    phase: "apply",
  },
  names: [
    {
      part: "organization",
      what: "a workspace of another organization",
      isBoundary: true,
      ids: ["organizationId", "workspaceId"],
    },
    { part: "project", what: "a workspace of another project", isBoundary: false, ids: ["workspaceId"] },
    { part: "workspace", what: "another workspace", isBoundary: false, ids: ["workspaceId"] },
    { part: "phase", what: "another phase of a run, such as the plan of a pull request", isBoundary: false },
  ],
  otherForms: [],
  ids: ["organizationId", "workspaceId"],
};

/** Buildkite. */
export const buildkite: WorkloadModel = {
  issuer: /^https:\/\/agent\.buildkite\.com/,
  sampleIssuer: "https://agent.buildkite.com",
  forms: [
    {
      name: "branch",
      sub: "organization:{organization}:pipeline:{pipeline}:ref:refs/heads/{branch}:commit:{commit}:step:{step}",
      claims: {
        organization_slug: "{organization}",
        organization_id: "{organizationId}",
        pipeline_slug: "{pipeline}",
        pipeline_id: "{pipelineId}",
        build_branch: "{branch}",
        build_source: "webhook",
        step_key: "{step}",
      },
    },
  ],
  sample: {
    organization: "acme",
    organizationId: "12",
    pipeline: "app",
    pipelineId: "74",
    branch: "main",
    commit: "0".repeat(40),
    step: "publish",
  },
  names: [
    {
      part: "organization",
      what: "a pipeline of another organization",
      isBoundary: true,
      ids: ["organizationId", "pipelineId"],
    },
    { part: "pipeline", what: "another pipeline", isBoundary: false, ids: ["pipelineId"] },
    { part: "branch", what: "another branch", isBoundary: false },
  ],
  otherForms: [],
  ids: ["organizationId", "pipelineId"],
};

/** The models of issuers. */
export const workloadModels: readonly WorkloadModel[] = [gitHub, gitLab, kubernetes, terraform, buildkite];
