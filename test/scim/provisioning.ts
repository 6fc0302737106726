// A server with an identity provider whose people a SCIM client provisions.
import assert from "node:assert/strict";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../harness/server.ts";
import { addCaller, ownerRole, viewerRole } from "../security/tree.ts";

/** The schemas of messages (RFC 7643 §8, RFC 7644 §3.5.2). */
export const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User";
export const groupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group";
export const enterpriseSchema = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
export const patchSchema = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

/** The response to a SCIM request. */
export interface ScimReply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the tests compare members that they know.
  readonly body: any;
}

/** Sends requests with one token to one provider. */
export interface ScimClient {
  readonly endpoint: string;
  readonly token: string;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ScimReply>;
}

/** Calls the REST API as a user. Fails unless the response is 200. */
export async function call(server: TestServer, token: string, method: string, path: string, body?: object) {
  const reply = await rest(server.url, token, method, `/iam/v2beta1/${path}`, body);
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  return reply.body;
}

/** Starts a server with an organization that has two owners, as provisioning requires. */
export async function startProvisionedServer(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startTestServer(options);
  await addOwner(server);
  return server;
}

/** Adds an owner to an organization. */
export async function addOwner(server: TestServer, groupUid = server.groupUid): Promise<void> {
  await addCaller(server, groupUid, ownerRole.uid);
}

/** Creates an identity provider of an organization. */
export async function createProvider(
  server: TestServer,
  oidc: object = {},
  groupUid = server.groupUid,
): Promise<string> {
  const provider = {
    name: `sso-${Math.random().toString(36).slice(2)}`,
    defaultRole: viewerRole.uid,
    oidc: { issuer: "https://sso.acme.test", clientId: "gatehouse", clientSecret: "canary", ...oidc },
  };
  return (await call(server, server.ownerToken, "POST", `identityProviders/${groupUid}`, provider)).uid;
}

/** Issues a SCIM token of a provider, and enables provisioning. */
export async function enableScim(server: TestServer, providerUid: string): Promise<ScimClient> {
  const path = `identityProviders/${providerUid}`;
  const { token, etag } = await call(server, server.ownerToken, "POST", `${path}:generateScimToken`, {});
  await call(server, server.ownerToken, "POST", `${path}:setScimEnabled`, { enabled: true, etag });
  return scimClient(server, providerUid, token);
}

/** Creates a client. */
export function scimClient(server: Pick<TestServer, "url">, providerUid: string, token: string): ScimClient {
  const endpoint = `${server.url}/scim/v2/${providerUid}`;
  return {
    endpoint,
    token,
    async send(method, path, body, headers = {}) {
      const reply = await fetch(endpoint + path, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/scim+json", ...headers },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await reply.text();
      return { status: reply.status, headers: reply.headers, body: text === "" ? undefined : JSON.parse(text) };
    },
  };
}
