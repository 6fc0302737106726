// The endpoint of SCIM 2.0 (RFC 7644): /scim/v2/PROVIDER_UID/… for the SCIM client of an identity provider.
import { ApiError, Code, unimplemented } from "../aip/errors.ts";
import type { FailureLimiter } from "../authn/failure-limiter.ts";
import type { Clock } from "../base/clock.ts";
import { requireInForce } from "../services/iam/delegations/inactive-delegations.ts";
import type { Database } from "../storage/database.ts";
import type { EndpointRequest, EndpointResponse } from "../transport/pages/endpoints.ts";
import { listOrOne, resourceTypes, schemaDocuments, serviceProviderConfig } from "./discovery.ts";
import { groups } from "./groups.ts";
import { respondWithList } from "./list.ts";
import { documentResponse, type ResourceHandlers, type ScimRequest, searchRequest } from "./request.ts";
import { isId } from "./resource-json.ts";
import { resourceNotFound, statusError } from "./scim-error.ts";
import { authenticate, scimPath } from "./token.ts";
import { users } from "./users.ts";

/** The database, the clock and the limits of the endpoint. */
export interface ScimOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly baseUrl: string;
  /** Limits invalid tokens per client address. */
  readonly failures: FailureLimiter;
}

const resources: Readonly<Record<string, ResourceHandlers>> = { Users: users, Groups: groups };

/** Responds to a request. */
export async function handleScim(
  options: ScimOptions,
  { call, method, path, query, json }: EndpointRequest,
): Promise<EndpointResponse> {
  const [root = "", child = "", ...rest] = path.slice(scimPath.length).split("/");
  const providerUid = `${root}/${child}`;
  const provider = await authenticate(options, providerUid, call);
  const { database, clock } = options;
  if (!provider.scimEnabled)
    throw statusError(403, Code.FAILED_PRECONDITION, "provisioning is not enabled for the identity provider");
  await requireInForce(database.session, "scim_tokens", providerUid).catch(forbid);
  const [kind = "", id, ...beyond] = rest;
  const context = { actor: providerUid, method: `${scimPath}${kind}`, requestId: call.requestId, time: clock() };
  const { lifetime } = call;
  const request: ScimRequest = {
    call,
    isRead: method === "GET",
    provider,
    endpoint: `${options.baseUrl}${scimPath}${providerUid}`,
    session: database.session,
    parameters: new Map([...query].reverse().map(([name, value]) => [name.toLowerCase(), value])),
    json,
    write(body) {
      lifetime?.awaitResult();
      return database.write({ ...context, lifetime }, body);
    },
  };
  if (beyond.length > 0) throw resourceNotFound(beyond.at(-1)!);
  return await dispatch(request, method, kind, id);
}

async function dispatch(
  request: ScimRequest,
  method: string,
  kind: string,
  id: string | undefined,
): Promise<EndpointResponse> {
  const handlers = Object.hasOwn(resources, kind) ? resources[kind]! : undefined;
  if (handlers) return await respondTo(handlers, request, method, id);
  // RFC 7644 §3.7.3, §3.11: what ServiceProviderConfig does not offer.
  if (kind === "Bulk" || kind === "Me") throw unimplemented(`/${kind} is not offered`);
  if (kind === ".search" && method === "POST")
    return await respondWithList(
      searchRequest(request),
      Object.values(resources).map(({ list }) => list),
    );
  if (method !== "GET") throw notAllowed(method);
  // RFC 7644 §4: these cannot be filtered.
  if (request.parameters.has("filter"))
    throw statusError(403, Code.INVALID_ARGUMENT, "schemas and resource types cannot be filtered");
  const { endpoint } = request;
  if (kind === "ServiceProviderConfig" && id === undefined) return documentResponse(serviceProviderConfig(endpoint));
  if (kind === "ResourceTypes") return documentResponse(listOrOne(resourceTypes(endpoint), id));
  if (kind === "Schemas") return documentResponse(listOrOne(schemaDocuments(endpoint), id));
  throw resourceNotFound(kind);
}

async function respondTo(
  handlers: ResourceHandlers,
  request: ScimRequest,
  method: string,
  id: string | undefined,
): Promise<EndpointResponse> {
  if (id === undefined || id === "") {
    if (method === "GET") return await respondWithList(request, [handlers.list]);
    if (method === "POST") return await handlers.create(request);
    throw notAllowed(method);
  }
  if (id === ".search" && method === "POST") return await respondWithList(searchRequest(request), [handlers.list]);
  const handler = { GET: handlers.get, PUT: handlers.replace, PATCH: handlers.patch, DELETE: handlers.remove }[method];
  if (!handler) throw notAllowed(method);
  if (!isId(id)) throw resourceNotFound(id);
  return await handler(request, id);
}

function notAllowed(method: string): ApiError {
  return statusError(405, Code.UNIMPLEMENTED, `${method} is not allowed here`);
}

/** Throws the denial for a client with a valid token whose maker no longer holds the capabilities of the token. */
function forbid(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  throw new ApiError(error.code, error.message, {
    reason: error.reason,
    metadata: { ...error.metadata, status: "403" },
  });
}
