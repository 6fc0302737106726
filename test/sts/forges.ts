// The large issuers under their real names: a proxy leads to one server on loopback, whose certificates are of a private authority.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createSecureContext } from "node:tls";
import { newAuthority } from "../harness/authority.ts";
import { startProxy } from "../harness/connect-proxy.ts";
import { discoveryPath, keyPair, keySetText, signOutside } from "./outside.ts";

export const gitHub = "https://token.actions.githubusercontent.com";
export const gitLab = "https://gitlab.com";
export const ownGitLab = "https://gitlab.example.org";
export const terraform = "https://app.terraform.io";
export const buildkite = "https://agent.buildkite.com";
export const bitbucket = "https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc";
export const cluster = "https://oidc.eks.eu-west-1.amazonaws.com/id/0A1B";

const key = keyPair("ES256");

/** Starts the issuers. `settings` lead a server to them. */
export async function startForges() {
  const directory = mkdtempSync(path.join(tmpdir(), "gatehouse-forges-"));
  const authority = newAuthority();
  const issuerCa = path.join(directory, "authority.pem");
  writeFileSync(issuerCa, authority.cert);
  const hosts = [gitHub, gitLab, ownGitLab, terraform, buildkite, bitbucket, cluster].map((url) => new URL(url).host);
  const contexts = new Map(hosts.map((host) => [host, createSecureContext(authority.issue(host))]));
  const options = {
    SNICallback: (host: string, done: (error: null, context: ReturnType<typeof createSecureContext>) => void) =>
      done(null, contexts.get(host)!),
  };
  const server = createServer(options, (request, response) => {
    const url = `https://${request.headers.host}${request.url}`;
    const issuer = url.slice(0, -discoveryPath.length);
    response.end(
      url.endsWith(discoveryPath) ? JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }) : keySetText(key),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const proxy = await startProxy(Object.fromEntries(hosts.map((host) => [host, port])));
  return {
    settings: { httpsProxy: `http://${proxy.host}`, issuerCa },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(directory, { recursive: true });
    },
  };
}

/** Returns a token of one of the issuers. */
export function forgeToken(aud: string, claims: Readonly<Record<string, unknown>>, now = Date.now()): Promise<string> {
  const seconds = Math.floor(now / 1000);
  return signOutside(key, { aud, iat: seconds, exp: seconds + 600, ...claims });
}

/** Returns the claims of a job on GitHub. Ids that are undefined are left out. */
export function gitHubJob(
  owner: string,
  repository: string,
  [ownerId, repositoryId]: readonly [string | undefined, string | undefined],
  { isNumbered = false, ref = "refs/heads/main" } = {},
) {
  const name = isNumbered ? `${owner}@${ownerId}/${repository}@${repositoryId}` : `${owner}/${repository}`;
  return {
    iss: gitHub,
    sub: `repo:${name}:ref:${ref}`,
    repository: `${owner}/${repository}`,
    repository_owner: owner,
    ...(repositoryId !== undefined && { repository_id: repositoryId }),
    ...(ownerId !== undefined && { repository_owner_id: ownerId }),
    ref,
  };
}

/** The rule of the console's wizard for a repository without ids: both forms of the subject match. */
export function gitHubRule(owner: string, repository: string) {
  return { issuer: gitHub, subjectPattern: `repo:${owner}(@[0-9]+)?/${repository}(@[0-9]+)?:ref:refs/heads/main` };
}
