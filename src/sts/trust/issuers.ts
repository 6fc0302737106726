// The catalogue of issuers: which claims name a workload, which have its immutable ids, and which may be stored.
import { isJsonObject, numberText } from "../../base/json.ts";
import { maxNameLength } from "../../model/trust.ts";
import { type Claims, normalizeIssuer } from "../claim-match.ts";
import { checkVisible } from "../claim-text.ts";
import type { WorkloadModel } from "./workload-model.ts";
import { buildkite, gitHub, gitLab, terraform } from "./workload-models.ts";

/** A name that others may own later, and the id that they cannot have. */
export interface NameKind {
  /** The kind, such as `repository`. */
  readonly kind: string;
  readonly nameOf: (claims: Claims) => string | undefined;
  readonly idOf: (claims: Claims) => string | undefined;
  /** Returns the id in the subject, which must be the same; never one if absent. */
  readonly subjectIdOf?: (claims: Claims) => string | undefined;
}

/** An issuer, or many of one product. */
export interface WorkloadIssuer {
  /** Whether a token is of this issuer. It is decided without the ids: a token that lacks them must not pass for another. */
  readonly isIssuerOf: (claims: Claims) => boolean;
  /** From the outermost to the innermost. */
  readonly kinds: readonly NameKind[];
  /** Whether names are pinned at their first use. Elsewhere an administrator may assign ids again, as after a restore. */
  readonly isPinnedAtFirstUse: (issuer: string) => boolean;
  /** The claims that may be stored of a token besides `iss`, `sub` and `aud`. */
  readonly storable: readonly string[];
}

/** Matches claims that say who started a job, or that differ in each job. */
const neverStored =
  /^(?:actor|email|user_|run_)|^(?:name|preferred_username|given_name|family_name|nickname|sha|jti|nonce)$|_(?:sha|number)$/;

/** Reports whether a claim says who started a job, or differs in each job: it is never stored. */
export function isNeverStored(claim: string): boolean {
  return neverStored.test(claim);
}

/** Returns the issuer of verified claims in the catalogue. */
export function issuerOf(claims: Claims): WorkloadIssuer | undefined {
  return workloadIssuers.find(({ isIssuerOf }) => isIssuerOf(claims));
}

/** Returns a text, or a number as it was sent; undefined for what is too long to be stored, or has characters that nobody sees. */
function textOf(value: unknown): string | undefined {
  const text = typeof value === "string" ? value : numberText(value);
  if (text === undefined || text === "" || text.length > maxNameLength) return undefined;
  return checkVisible(text) === undefined ? text : undefined;
}

function member(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

const claim = (name: string) => (claims: Claims) => textOf(member(claims, name));

const named = (kind: string, name: string, id: string): NameKind => ({ kind, nameOf: claim(name), idOf: claim(id) });

const issOf = ({ iss }: Claims): string => (typeof iss === "string" ? normalizeIssuer(iss) : "");

/** Returns the claims that a model has for rules: the same say who a workload is. */
function claimsOfModel({ forms }: WorkloadModel): string[] {
  const names = new Set(forms.flatMap(({ claims }) => Object.keys(claims)));
  return [...names].filter((name) => !isNeverStored(name));
}

// Enterprises may have a path of their own, or a subdomain of ghe.com.
const gitHubHosts = /^https:\/\/token\.actions\.(?:githubusercontent\.com|[a-z0-9-]+\.ghe\.com)(?:\/|$)/;

/** Subjects of repositories that are newer than July 2026 have the ids: `repo:acme@12/app@74:ref:refs/heads/main`. */
const numberedSubject = /^repo:[^/@:]+@([0-9]+)\/[^/@:]+@([0-9]+)(?::|$)/;

/** A name whose id may be in the subject, too. */
function numbered(kind: NameKind, group: number): NameKind {
  const subjectIdOf = ({ sub }: Claims) => (typeof sub === "string" ? numberedSubject.exec(sub)?.[group] : undefined);
  return { ...kind, idOf: (claims) => kind.idOf(claims) ?? subjectIdOf(claims), subjectIdOf };
}

const gitHubIssuer: WorkloadIssuer = {
  isIssuerOf: (claims) => gitHubHosts.test(issOf(claims)) || issOf(claims).endsWith("/_services/token"),
  kinds: [
    numbered(named("owner", "repository_owner", "repository_owner_id"), 1),
    numbered(named("repository", "repository", "repository_id"), 2),
  ],
  // Not those of GitHub Enterprise Server.
  isPinnedAtFirstUse: (issuer) => gitHubHosts.test(issuer),
  storable: [...claimsOfModel(gitHub), "enterprise", "enterprise_id", "workflow"],
};

const gitLabIssuer: WorkloadIssuer = {
  isIssuerOf: (claims) => issOf(claims) === "https://gitlab.com" || claim("project_path")(claims) !== undefined,
  kinds: [named("namespace", "namespace_path", "namespace_id"), named("project", "project_path", "project_id")],
  isPinnedAtFirstUse: (issuer) => issuer === "https://gitlab.com",
  storable: [
    ...claimsOfModel(gitLab),
    "ci_config_ref_uri",
    "deployment_tier",
    "environment_action",
    "runner_environment",
  ],
};

const terraformIssuer: WorkloadIssuer = {
  isIssuerOf: (claims) =>
    issOf(claims) === "https://app.terraform.io" || claim("terraform_organization_name")(claims) !== undefined,
  kinds: [
    named("organization", "terraform_organization_name", "terraform_organization_id"),
    {
      kind: "workspace",
      // A workspace has its name within the organization.
      nameOf: (claims) =>
        within(claim("terraform_organization_name")(claims), claim("terraform_workspace_name")(claims)),
      idOf: claim("terraform_workspace_id"),
    },
  ],
  isPinnedAtFirstUse: (issuer) => issuer === "https://app.terraform.io",
  storable: [...claimsOfModel(terraform), "terraform_project_id"],
};

const buildkiteIssuer: WorkloadIssuer = {
  isIssuerOf: (claims) => issOf(claims) === "https://agent.buildkite.com",
  kinds: [
    named("organization", "organization_slug", "organization_id"),
    {
      kind: "pipeline",
      nameOf: (claims) => within(claim("organization_slug")(claims), claim("pipeline_slug")(claims)),
      idOf: claim("pipeline_id"),
    },
  ],
  // A token has the ids only if the job asks for them: `buildkite-agent oidc request-token --claim organization_id,pipeline_id`.
  isPinnedAtFirstUse: () => true,
  storable: [
    ...claimsOfModel(buildkite),
    "build_tag",
    "cluster_id",
    "cluster_name",
    "queue_id",
    "queue_key",
    "runner_environment",
  ],
};

const bitbucketWorkspace =
  /^https:\/\/api\.bitbucket\.org\/2\.0\/workspaces\/([^/]+)\/pipelines-config\/identity\/oidc$/;

const bitbucketIssuer: WorkloadIssuer = {
  isIssuerOf: (claims) => bitbucketWorkspace.test(issOf(claims)),
  // A token has no name of the repository, only its UUID in braces.
  kinds: [
    {
      kind: "workspace",
      nameOf: (claims) => bitbucketWorkspace.exec(issOf(claims))?.[1],
      idOf: claim("workspaceUuid"),
    },
  ],
  isPinnedAtFirstUse: () => true,
  storable: ["workspaceUuid", "repositoryUuid", "branchName", "deploymentEnvironmentUuid"],
};

/** The claim of Kubernetes that is an object: no rule compares it. */
export const podClaim = "kubernetes.io";

const kubernetesIssuer: WorkloadIssuer = {
  isIssuerOf: (claims) => isJsonObject(member(claims, podClaim)),
  kinds: [
    {
      kind: "service_account",
      nameOf: (claims) => {
        const pod = member(claims, podClaim);
        return within(textOf(member(pod, "namespace")), textOf(member(member(pod, "serviceaccount"), "name")));
      },
      idOf: (claims) => textOf(member(member(member(claims, podClaim), "serviceaccount"), "uid")),
    },
  ],
  // A deployment tool may delete a service account and create it again.
  isPinnedAtFirstUse: () => false,
  storable: [podClaim],
};

/** Returns the storable part of the claim of Kubernetes: the pod and the node differ in each job. */
export function withoutPod(value: unknown): unknown {
  const account = member(value, "serviceaccount");
  const text = (of: unknown, name: string) => textOf(member(of, name));
  return {
    namespace: text(value, "namespace"),
    serviceaccount: { name: text(account, "name"), uid: text(account, "uid") },
  };
}

/** Issuers whose subject is an id already. */
const byId = (pattern: RegExp, storable: readonly string[]): WorkloadIssuer => ({
  isIssuerOf: (claims) => pattern.test(issOf(claims)),
  kinds: [],
  isPinnedAtFirstUse: () => false,
  storable,
});

const circle = "oidc.circleci.com";

/** The issuers of workloads whose claims are known. */
export const workloadIssuers: readonly WorkloadIssuer[] = [
  gitHubIssuer,
  terraformIssuer,
  buildkiteIssuer,
  bitbucketIssuer,
  byId(/^https:\/\/oidc\.circleci\.com\/org\//, [
    `${circle}/project-id`,
    `${circle}/context-ids`,
    `${circle}/vcs-origin`,
    `${circle}/vcs-ref`,
    `${circle}/ssh-rerun`,
  ]),
  byId(/^https:\/\/accounts\.google\.com$/, ["azp"]),
  byId(/^https:\/\/(?:login\.microsoftonline\.com|sts\.windows\.net)\//, ["tid", "oid", "appid", "azp", "idtyp"]),
  // Known by their claims, so after those that are known by their URL.
  kubernetesIssuer,
  gitLabIssuer,
];

/** The kinds of names. A role is that of AWS, which has requests in place of tokens. */
export const nameKinds: ReadonlySet<string> = new Set([
  ...workloadIssuers.flatMap(({ kinds }) => kinds.map(({ kind }) => kind)),
  "role",
]);

function within(outer: string | undefined, inner: string | undefined): string | undefined {
  return outer === undefined || inner === undefined ? undefined : `${outer}/${inner}`;
}
