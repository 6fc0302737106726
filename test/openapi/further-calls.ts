// Examples of operations that no API case is granted: what answers them is not of this server, or needs more than a token.
import type { Example } from "../../src/openapi/examples.ts";

/** An example with the status of its reply. */
export interface FurtherCall extends Example {
  readonly status: number;
}

const group = "0".repeat(39).concat("1");
const child = `${group}/${"0".repeat(15)}2`;
const server = "https://gatehouse.example.org";
const digest = `sha256:${"0".repeat(64)}`;
const person = `${"0".repeat(39)}3`;
const keyId = "A".repeat(43);
const time = "2026-01-31T12:00:00Z";
const node = {
  nodeId: "0".repeat(32),
  hostName: "gatehouse-0",
  version: "1.0.0",
  workerCount: 1,
  state: "STATE_RUNNING",
  current: true,
  startTime: time,
  lastSeenTime: time,
};
/** A session of a person in a browser. */
const session = {
  sessionId: "0".repeat(32),
  browser: true,
  clientAddress: "192.0.2.1",
  userAgent: "Mozilla/5.0",
  createTime: time,
  expireTime: "2026-02-07T12:00:00Z",
  lastUseTime: time,
};
const gitHub = "https://token.actions.githubusercontent.com";
const seenToken = {
  claims: { iss: gitHub, sub: "repo:acme/app:ref:refs/heads/dev", aud: server, repository: "acme/app" },
  accepted: true,
  registry: false,
  count: "14",
  firstTime: "2026-01-03T12:00:00Z",
  lastTime: time,
};
const claimMatch = { issuer: gitHub, subject: "repo:acme/app:ref:refs/heads/main" };
const charts = [{ chart: "web", repo: "https://charts.example.org" }];

/** The calls by the names of their examples. */
export const furtherCalls: Readonly<Record<string, FurtherCall>> = {
  "GET /iam/v1/identities/lookup": {
    parameters: { issuer: "https://issuer.example.org", subject: "someone" },
    status: 404,
  },
  "POST /registry/v1/repos/{repoId}/deployment": { parameters: { repoId: child }, body: { charts }, status: 501 },
  "PUT /registry/v1/repos/{repoId}/deployment": { parameters: { repoId: child }, body: { charts }, status: 501 },
  "GET /registry/v1/repos/{repoId}/deployment": { parameters: { repoId: child }, status: 501 },
  "GET /registry/v1/repos/{repoId}/digests/{digest}/architectures": {
    parameters: { repoId: child, digest },
    status: 404,
  },
  "GET /registry/v1/repos/{repoId}/digests/{digest}/imageconfig": {
    parameters: { repoId: child, digest },
    status: 404,
  },
  "GET /registry/v1/repos/{repoId}/digests/{digest}/size": { parameters: { repoId: child, digest }, status: 404 },
  "GET /registry/v1/versions/{package}": { parameters: { package: "nginx" }, status: 404 },
  // Names are refused only if an issuer signs their tokens.
  "POST /gatehouse/iam/v1/trust/{identity}:acceptNames": {
    parameters: { identity: child },
    body: { refusedNames: [{ kind: "repository", name: "acme/app", id: "75" }] },
    status: 404,
  },
  // The responses of these operations differ between databases, or need a sign-in.
  "GET /gatehouse/operate/v1/installation": { status: 200 },
  "GET /gatehouse/operate/v1/nodes": {
    parameters: { pageSize: 10 },
    reply: { nodes: [node], totalCount: "1" },
    status: 200,
  },
  "GET /gatehouse/operate/v1/signingKeys": {
    parameters: { pageSize: 10 },
    reply: {
      signingKeys: [{ keyId, algorithm: "ES256", state: "STATE_SIGNING", purposes: ["PURPOSE_OWN"], createTime: time }],
      totalCount: "1",
    },
    status: 200,
  },
  "GET /gatehouse/operate/v1/sessions": {
    parameters: { identityUid: person },
    reply: { sessions: [{ ...session, identityUid: person, email: "ada@example.org" }], totalCount: "1" },
    status: 200,
  },
  "GET /gatehouse/iam/v1/memberships:sessions": {
    parameters: { organization: group, identity: person },
    reply: { sessions: [{ ...session, identityProvider: child }] },
    status: 200,
  },
  // No workload presents a token in an API case.
  "GET /gatehouse/iam/v1/trust/{identity}:listSeenTokens": {
    parameters: { identity: child },
    reply: { seenTokens: [seenToken], totalCount: "1" },
    status: 404,
  },
  "POST /gatehouse/iam/v1/trust/{identity}:replay": {
    parameters: { identity: child },
    body: { claimMatch, days: 30 },
    reply: {
      tokens: [{ verdict: "VERDICT_NEWLY_DENIED", failedCheck: "sub", token: seenToken }],
      totals: [{ verdict: "VERDICT_NEWLY_DENIED", tokens: "1", exchanges: "14" }],
    },
    status: 404,
  },
  "GET /gatehouse/organizations/v1/identityProviders/{parent}:suspendedPeople": {
    parameters: { parent: child },
    reply: { identityUids: [person], totalCount: "1", skipped: 0 },
    status: 404,
  },
  "POST /gatehouse/operate/v1/signingKeys/{keyId}:retire": {
    parameters: { keyId },
    body: {},
    status: 404,
  },
  "POST /gatehouse/operate/v1/sessions/{sessionId}:end": {
    parameters: { sessionId: "session" },
    body: {},
    status: 404,
  },
  "POST /gatehouse/iam/v1/memberships:endSession": {
    body: { organization: group, identity: person, sessionId: "session" },
    status: 404,
  },
  "POST /auth/v1/register": { body: { code: "<code>" }, status: 403 },
  "DELETE /auth/v1/delete/{id}": { parameters: { id: child }, status: 403 },
  "GET /sts/exchange": { parameters: { aud: [server] }, status: 200 },
  "POST /sts/exchange": { parameters: { aud: [server], cap: ["groups.list"] }, status: 200 },
  "POST /sts/exchange_refresh_token": { parameters: { aud: [server] }, status: 401 },
  "GET /sts/headless_sessions": { parameters: { code: "<code>" }, status: 404 },
};

/** Returns the text of an example as a call of this server: its group, its address. */
export function inServer(text: string, groupUid: string, url: string): string {
  return text.replaceAll(group, groupUid).replaceAll(server, url);
}
