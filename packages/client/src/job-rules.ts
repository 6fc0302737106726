// The rules that let jobs of GitHub Actions and GitLab CI in. The command line and the console write the same.

/** A job, and the immutable ids of what it is in. A text that is empty is not asked for. */
export interface JobDescription {
  /** The repository of GitHub as `OWNER/NAME`, or the path of the project at GitLab. */
  readonly path: string;
  /** The branch; empty for any branch or tag. */
  readonly branch?: string;
  readonly environment?: string;
  /** The id of the repository or project. */
  readonly id?: string;
  /** The id of the owner at GitHub, or of the namespace at GitLab. */
  readonly ownerId?: string;
  /** The issuer, if it is not that of the public service. */
  readonly issuer?: string;
}

/** The claims of the tokens of a job, as a claim match has them. Either `subject` or `subjectPattern` is there. */
export interface JobRule {
  readonly issuer: string;
  readonly subject?: string;
  readonly subjectPattern?: string;
  readonly claims: Readonly<Record<string, string>>;
}

/** The issuers of the public services. */
export const gitHubIssuer = "https://token.actions.githubusercontent.com";
export const gitLabIssuer = "https://gitlab.com";

/** Escapes a text for RE2, in which patterns are written. */
export function literal(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
}

/** Returns the rule for jobs of GitHub Actions, whose subjects have the ids of owner and repository or not: `repo:acme@12/app@34`. */
export function gitHubRule(job: JobDescription): JobRule {
  const { path, branch = "", environment = "", id = "", ownerId = "", issuer = gitHubIssuer } = job;
  const [owner = "", name = ""] = path.split("/").map(literal);
  const suffix = (number: string) => `(@${number === "" ? "[0-9]+" : literal(number)})?`;
  const start = `repo:${owner}${suffix(ownerId)}/${name}${suffix(id)}`;
  const ref = branch === "" ? "(heads|tags)/.*" : `heads/${literal(branch)}`;
  // A job with an environment has it in the subject in place of the branch, with its colons escaped.
  const place = environment === "" ? `ref:refs/${ref}` : `environment:${literal(environment.replaceAll(":", "%3A"))}`;
  return {
    issuer,
    subjectPattern: `${start}:${place}`,
    claims: {
      ...(id === "" ? { repository: path } : { repository_id: id }),
      ...(ownerId !== "" && { repository_owner_id: ownerId }),
      ...(branch !== "" && { ref: `refs/heads/${branch}` }),
    },
  };
}

/** Returns the rule for jobs of GitLab CI on protected branches and tags. Everybody with push access can create others. */
export function gitLabRule(job: JobDescription): JobRule {
  const { path, branch = "", environment = "", id = "", ownerId = "", issuer = gitLabIssuer } = job;
  return {
    issuer,
    ...(branch === ""
      ? { subjectPattern: `project_path:${literal(path)}:ref_type:.*` }
      : { subject: `project_path:${path}:ref_type:branch:ref:${branch}` }),
    claims: {
      ...(id !== "" && { project_id: id }),
      ...(ownerId !== "" && { namespace_id: ownerId }),
      ref_protected: "true",
      ...(environment !== "" && { environment }),
    },
  };
}
