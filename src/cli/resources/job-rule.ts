// The flags of `gatehouse iam identities create` for a job of GitHub Actions or GitLab CI, which stand for its issuer, subject and claims.
import type { JobDescription, JobRule } from "../../../packages/client/src/job-rules.ts";
import { wrongUsage } from "../failure.ts";
import type { Options, Resource } from "./resource.ts";

const subjectFlags = ["subject", "subjectPattern", "identityIssuerPattern", "issuerKeys", "expiration"];

/** The flags, for `create` only: an update changes single claims. */
export const jobFlags: NonNullable<Resource["completing"]> = [
  {
    flags: "--github <owner/repo>",
    description: "jobs of GitHub Actions in this repository; --identity-issuer for GitHub Enterprise Server",
    only: "create",
    conflicts: ["gitlab", "projectId", "namespaceId", ...subjectFlags],
  },
  {
    flags: "--gitlab <project>",
    description:
      "jobs of GitLab CI in this project, on protected branches and tags; --identity-issuer for your own GitLab",
    only: "create",
    conflicts: ["repositoryId", "ownerId", ...subjectFlags],
  },
  { flags: "--branch <name>", description: "those of this branch", only: "create", conflicts: ["anyRef"] },
  { flags: "--any-ref", description: "those of any branch or tag", only: "create" },
  { flags: "--environment <name>", description: "those with this environment", only: "create" },
  {
    flags: "--repository-id <id>",
    description: "immutable id of the repository at GitHub; without it, that of the first job is pinned",
    only: "create",
  },
  { flags: "--owner-id <id>", description: "immutable id of its owner", only: "create" },
  {
    flags: "--project-id <id>",
    description: "immutable id of the project at GitLab; without it, that of the first job at gitlab.com is pinned",
    only: "create",
  },
  { flags: "--namespace-id <id>", description: "immutable id of its namespace", only: "create" },
];

/** Commander's names of the flags that need --github or --gitlab. */
const detailNames = ["branch", "anyRef", "environment", "repositoryId", "ownerId", "projectId", "namespaceId"];

/** Commander's names of all these flags. */
export const jobFlagNames = ["github", "gitlab", ...detailNames];

/** Returns the rule for the job that the flags describe; undefined if there is none. */
export async function jobRuleOf(options: Options): Promise<JobRule | undefined> {
  const isGitHub = options.github !== undefined;
  const path = textOf(options, isGitHub ? "github" : "gitlab");
  if (path === undefined) {
    const detail = detailNames.find((name) => options[name] !== undefined);
    if (detail !== undefined) throw wrongUsage(`${flagOf(detail)} is for --github or --gitlab`);
    return undefined;
  }
  checkPath(path, isGitHub);
  const { gitHubRule, gitLabRule } = await import("../../../packages/client/src/job-rules.ts");
  return (isGitHub ? gitHubRule : gitLabRule)(describe(path, options, isGitHub));
}

function describe(path: string, options: Options, isGitHub: boolean): JobDescription {
  const [branch, environment] = [textOf(options, "branch"), textOf(options, "environment")];
  if (branch === undefined && environment === undefined && options.anyRef === undefined)
    throw wrongUsage("which jobs may assume the identity?", "Say so with --branch, --environment or --any-ref.");
  const id = idOf(options, isGitHub ? "repositoryId" : "projectId");
  const ownerId = idOf(options, isGitHub ? "ownerId" : "namespaceId");
  const issuer = textOf(options, "identityIssuer");
  const members = { branch, environment, id, ownerId, issuer };
  return { path, ...Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) };
}

/** Fails for addresses and other texts that no subject has. GitLab nests namespaces, GitHub does not. */
function checkPath(path: string, isGitHub: boolean): void {
  const isPath = isGitHub ? /^[^\s/:@]+\/[^\s/:@]+$/ : /^[^\s/:]+(?:\/[^\s/:]+)+$/;
  if (isPath.test(path)) return;
  throw wrongUsage(
    `${JSON.stringify(path)} is not ${isGitHub ? "OWNER/REPO" : "the path of a project"}, such as acme/app`,
  );
}

function idOf(options: Options, name: string): string | undefined {
  const text = textOf(options, name);
  if (text === undefined || /^[0-9]+$/.test(text)) return text;
  throw wrongUsage(`${flagOf(name)}: ${JSON.stringify(text)} is not a number`);
}

/** Returns the value of a flag; undefined if the flag is absent or empty. */
function textOf(options: Options, name: string): string | undefined {
  const value = options[name];
  return value === undefined || value === "" ? undefined : String(value);
}

function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
