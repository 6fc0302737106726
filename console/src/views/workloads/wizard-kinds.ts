// What the wizard asks for each kind of workload, and what becomes of it. The claims are those that the providers document.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { IdentitySchema } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { gitHubRule, gitLabRule, type JobRule, literal } from "../../../../packages/client/src/job-rules.ts";
import { dayMs } from "../../api/durations.ts";
import type { TextId } from "../../texts/catalogues.ts";

type Relationship = NonNullable<MessageInitShape<typeof IdentitySchema>["relationship"]>;

/** A field of the second step. */
export interface WizardField {
  readonly name: string;
  readonly text: TextId;
  readonly placeholder: string;
  /** The field of the API that violations name; absent if the value is a part of several. */
  readonly api?: string;
  /** Whether it may stay empty. */
  readonly isOptional?: boolean;
  /** Whether it may stay empty only if any branch or tag is chosen. */
  readonly isRef?: boolean;
  /** The value at the beginning. */
  readonly initial?: string;
}

/** The values of the fields. An empty branch is any branch or tag. */
export type Values = Readonly<Record<string, string>>;

/** The id of a kind of workload. */
export type KindId = "github" | "gitlab" | "kubernetes" | "aws" | "google" | "azure" | "buildkite" | "oidc" | "key";

/** A kind of workload. */
export interface WizardKind {
  readonly id: KindId;
  /** A proper name, or the id of a text. */
  readonly title: { readonly name: string } | { readonly text: TextId };
  readonly fields: readonly WizardField[];
  readonly relationshipOf: (values: Values) => Relationship;
}

function claims(
  issuer: string,
  subject: Pick<JobRule, "subject" | "subjectPattern">,
  { audience = "", further = {} }: { readonly audience?: string; readonly further?: Values } = {},
): Relationship {
  const { subject: exact, subjectPattern = "" } = subject;
  return {
    case: "claimMatch",
    value: {
      iss: { case: "issuer", value: issuer },
      sub: exact === undefined ? { case: "subjectPattern", value: subjectPattern } : { case: "subject", value: exact },
      ...(audience !== "" && { aud: { case: "audience" as const, value: audience } }),
      claims: further,
    },
  };
}

function ofJob({ issuer, claims: further, ...subject }: JobRule): Relationship {
  return claims(issuer, subject, { further });
}

/** The field of a branch. */
const branchField: WizardField = { name: "branch", text: "wizard.branch", placeholder: "main", isRef: true };

const github: WizardKind = {
  id: "github",
  title: { name: "GitHub Actions" },
  fields: [
    { name: "repo", text: "wizard.githubRepo", placeholder: "acme/app" },
    branchField,
    { name: "environment", text: "wizard.environment", placeholder: "production", isOptional: true },
    { name: "repoId", text: "wizard.githubRepoId", placeholder: "74", isOptional: true },
    { name: "ownerId", text: "wizard.githubOwnerId", placeholder: "12", isOptional: true },
  ],
  relationshipOf: ({ repo = "", repoId: id = "", ...job }) => ofJob(gitHubRule({ ...job, path: repo, id })),
};

const gitlab: WizardKind = {
  id: "gitlab",
  title: { name: "GitLab CI" },
  fields: [
    {
      name: "issuer",
      text: "wizard.gitlabUrl",
      placeholder: "https://gitlab.com",
      initial: "https://gitlab.com",
      api: "issuer",
    },
    { name: "project", text: "wizard.gitlabProject", placeholder: "acme/app" },
    branchField,
    { name: "environment", text: "wizard.environment", placeholder: "production", isOptional: true },
    { name: "projectId", text: "wizard.gitlabProjectId", placeholder: "74", isOptional: true },
    { name: "namespaceId", text: "wizard.gitlabNamespaceId", placeholder: "12", isOptional: true },
  ],
  relationshipOf: ({ project = "", projectId: id = "", namespaceId: ownerId = "", ...job }) =>
    ofJob(gitLabRule({ ...job, path: project, id, ownerId })),
};

const kubernetes: WizardKind = {
  id: "kubernetes",
  title: { name: "Kubernetes" },
  fields: [
    { name: "issuer", text: "wizard.clusterIssuer", placeholder: "https://oidc.cluster.example.com", api: "issuer" },
    { name: "namespace", text: "wizard.namespace", placeholder: "default" },
    { name: "account", text: "wizard.serviceAccount", placeholder: "app" },
  ],
  relationshipOf: ({ issuer = "", namespace = "", account = "" }) =>
    claims(issuer, { subject: `system:serviceaccount:${namespace}:${account}` }),
};

const aws: WizardKind = {
  id: "aws",
  title: { name: "AWS" },
  fields: [
    { name: "account", text: "wizard.awsAccount", placeholder: "123456789012", api: "aws_account" },
    { name: "role", text: "wizard.awsRole", placeholder: "build" },
  ],
  relationshipOf: ({ account = "", role = "" }) => ({
    case: "awsIdentity",
    value: {
      awsAccount: account,
      awsArn: { case: "arnPattern", value: `arn:aws:sts::${literal(account)}:assumed-role/${literal(role)}/.*` },
      // The id of a role, which begins with AROA, and the name of the session.
      awsUserId: { case: "userIdPattern", value: "AROA[A-Z0-9]+:.*" },
    },
  }),
};

const google: WizardKind = {
  id: "google",
  title: { name: "Google Cloud" },
  fields: [{ name: "account", text: "wizard.googleAccount", placeholder: "112233445566778899000", api: "subject" }],
  relationshipOf: ({ account = "" }) => claims("https://accounts.google.com", { subject: account }),
};

const azure: WizardKind = {
  id: "azure",
  title: { name: "Azure" },
  fields: [
    { name: "tenant", text: "wizard.azureTenant", placeholder: "00000000-0000-0000-0000-000000000000", api: "issuer" },
    { name: "object", text: "wizard.azureObject", placeholder: "00000000-0000-0000-0000-000000000000", api: "subject" },
    { name: "audience", text: "wizard.azureAudience", placeholder: "api://gatehouse", api: "audience" },
  ],
  relationshipOf: ({ tenant = "", object = "", audience = "" }) =>
    claims(`https://sts.windows.net/${tenant}/`, { subject: object }, { audience }),
};

const buildkite: WizardKind = {
  id: "buildkite",
  title: { name: "Buildkite" },
  fields: [
    { name: "organization", text: "wizard.buildkiteOrganization", placeholder: "acme" },
    { name: "pipeline", text: "wizard.buildkitePipeline", placeholder: "app" },
    branchField,
  ],
  relationshipOf({ organization = "", pipeline = "", branch = "" }) {
    const ref = branch === "" ? ".*" : `refs/heads/${literal(branch)}`;
    const start = `organization:${literal(organization)}:pipeline:${literal(pipeline)}`;
    return claims("https://agent.buildkite.com", { subjectPattern: `${start}:ref:${ref}:commit:.*` });
  },
};

const oidc: WizardKind = {
  id: "oidc",
  title: { text: "wizard.oidc" },
  fields: [
    { name: "issuer", text: "wizard.keyIssuer", placeholder: "https://issuer.example.com", api: "issuer" },
    { name: "subject", text: "wizard.keySubject", placeholder: "build", api: "subject" },
    {
      name: "audience",
      text: "wizard.oidcAudience",
      placeholder: "https://gatehouse.example.com",
      api: "audience",
      isOptional: true,
    },
  ],
  relationshipOf: ({ issuer = "", subject = "", audience = "" }) => claims(issuer, { subject: subject }, { audience }),
};

const staticKey: WizardKind = {
  id: "key",
  title: { text: "wizard.key" },
  fields: [
    { name: "issuer", text: "wizard.keyIssuer", placeholder: "https://keys.example.com", api: "issuer" },
    { name: "subject", text: "wizard.keySubject", placeholder: "build", api: "subject" },
    { name: "days", text: "wizard.keyDays", placeholder: "90", initial: "90", api: "expiration_time" },
  ],
  relationshipOf: ({ issuer = "", subject = "", days = "", issuerKeys = "" }) => {
    const endMs = Date.now() + Number(days) * dayMs;
    return {
      case: "staticKeys",
      value: {
        issuer,
        subject,
        issuerKeys,
        ...(Number.isFinite(endMs) && { expirationTime: { seconds: BigInt(Math.floor(endMs / 1000)), nanos: 0 } }),
      },
    };
  },
};

/** The kinds, in the order in which the wizard offers them. */
export const wizardKinds: readonly WizardKind[] = [
  github,
  gitlab,
  kubernetes,
  aws,
  google,
  azure,
  buildkite,
  oidc,
  staticKey,
];
