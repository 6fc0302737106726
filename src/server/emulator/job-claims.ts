// The claims of the tokens that the emulated issuers sign, as those of the platforms have them.
import { isJsonObject, type JsonObject } from "../../base/json.ts";

/** The claims of a token. */
export type Claims = JsonObject;

/** The kinds of issuers. */
export const issuerKinds = ["github", "gitlab", "kubernetes", "generic"] as const;

export type IssuerKind = (typeof issuerKinds)[number];

/** Returns the claims of a job or pod, of which some are given: the others follow from them, as on the platform. */
export const jobClaims: Readonly<Record<IssuerKind, (given: Claims) => Claims>> = {
  github(given) {
    const { repository, ref, environment } = textsOf(given, { repository: "example/app", ref: "refs/heads/main" });
    const owner = beforeSlash(repository!);
    return {
      sub: `repo:${repository}:${environment === undefined ? `ref:${ref}` : `environment:${environment}`}`,
      repository,
      repository_id: "1001",
      repository_owner: owner,
      repository_owner_id: "1000",
      repository_visibility: "private",
      ref,
      ref_type: ref!.startsWith("refs/tags/") ? "tag" : "branch",
      event_name: "push",
      workflow: "ci",
      job_workflow_ref: `${repository}/.github/workflows/ci.yml@${ref}`,
      actor: owner,
      run_id: "1",
      run_attempt: "1",
      runner_environment: "github-hosted",
    };
  },
  gitlab(given) {
    const { project_path, ref, ref_type } = textsOf(given, {
      project_path: "example/app",
      ref: "main",
      ref_type: "branch",
    });
    return {
      sub: `project_path:${project_path}:ref_type:${ref_type}:ref:${ref}`,
      project_path,
      project_id: "1001",
      namespace_path: beforeSlash(project_path!),
      namespace_id: "1000",
      ref,
      ref_type,
      ref_protected: "true",
      pipeline_source: "push",
      pipeline_id: "1",
      job_id: "1",
      user_login: "example",
    };
  },
  kubernetes(given) {
    const { "kubernetes.io": object } = given;
    const { namespace = "default", serviceaccount } = isJsonObject(object) ? object : {};
    const { name = "default" } = isJsonObject(serviceaccount) ? serviceaccount : {};
    return {
      sub: `system:serviceaccount:${namespace}:${name}`,
      "kubernetes.io": { namespace, serviceaccount: { name, uid: "00000000-0000-4000-8000-000000000001" } },
    };
  },
  generic: () => ({ sub: "subject" }),
};

/** Returns the texts among the given claims, and these for the others. */
function textsOf(
  given: Claims,
  defaults: Readonly<Record<string, string>>,
): Readonly<Record<string, string | undefined>> {
  const texts = Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return { ...defaults, ...Object.fromEntries(texts) };
}

/** The owner of a repository; the group of a project. */
function beforeSlash(name: string): string {
  const slash = name.lastIndexOf("/");
  return slash < 0 ? name : name.slice(0, slash);
}
