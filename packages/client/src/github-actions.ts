// The identity token of a GitHub Actions job.
import { readToken, type TokenSource } from "./tokens.ts";

/** The variables that a job with `permissions: {id-token: write}` has. */
export interface GitHubActionsVariables {
  readonly ACTIONS_ID_TOKEN_REQUEST_URL?: string | undefined;
  readonly ACTIONS_ID_TOKEN_REQUEST_TOKEN?: string | undefined;
}

/** The options for requesting the token of a job. */
export interface GitHubActionsOptions {
  /** The address of the Gatehouse server. */
  readonly audience: string;
  readonly environment: GitHubActionsVariables;
  readonly fetch?: (url: URL, init: RequestInit) => Promise<Response>;
}

/** The time limit of a request to the runner. */
const timeoutMs = 30_000;

/** Returns the identity tokens of the job that the program runs in. */
export function gitHubActionsToken(options: GitHubActionsOptions): TokenSource {
  return readToken(async () => {
    const token = await requestGitHubActionsToken(options);
    if (token === undefined)
      throw new Error('this is not a job of GitHub Actions with "permissions: {id-token: write}"');
    return token;
  });
}

/** Requests the identity token of the job; undefined outside of a job that may have one. */
export async function requestGitHubActionsToken(options: GitHubActionsOptions): Promise<string | undefined> {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: token } = options.environment;
  if (!url || !token) return undefined;
  const address = new URL(url);
  address.searchParams.set("audience", options.audience);
  const init: RequestInit = { headers: { authorization: `Bearer ${token}` }, redirect: "error" };
  const response = await (options.fetch ?? fetchInTime)(address, init);
  const body: unknown = response.ok ? await response.json().catch(() => undefined) : undefined;
  const value = (body as { value?: unknown } | undefined)?.value;
  if (typeof value === "string") return value;
  throw new GitHubActionsError(response.status);
}

function fetchInTime(url: URL, init: RequestInit): Promise<Response> {
  return fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
}

/** The runner issued no token. */
export class GitHubActionsError extends Error {
  override readonly name = "GitHubActionsError";

  constructor(status: number) {
    super(`the runner responds with ${status} to a request for an identity token`);
  }
}
