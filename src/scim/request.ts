// Helpers that the handlers of users and groups share.
import { Code } from "../aip/errors.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import type { Call } from "../pipeline/call.ts";
import type { Session, Transaction } from "../storage/engine/session.ts";
import type { IdentityProviderRow } from "../storage/iam/provider-rows.ts";
import type { EndpointResponse } from "../transport/pages/endpoints.ts";
import { type Filter, parseFilter } from "./filter.ts";
import { scimLimits } from "./limits.ts";
import { etagOf, type Projection, project, type ScimResource } from "./resource-json.ts";
import { scimError, scimType, statusError } from "./scim-error.ts";

/** A request of a SCIM client that has a valid token. */
export interface ScimRequest {
  readonly call: Call;
  readonly isRead: boolean;
  readonly provider: IdentityProviderRow;
  /** The base URL of the provider's resources. */
  readonly endpoint: string;
  readonly session: Session;
  /** The first value of each parameter, by its name in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Returns the body. Throws for one that is not JSON. */
  json(): unknown;
  /** Runs a write with the provider as its actor. */
  write<T>(body: (tx: Transaction) => Promise<T>): Promise<T>;
}

/** Part of a list. */
export interface ListPart {
  readonly resources: readonly object[];
  /** The number of all resources that match the filter. */
  readonly total: number;
}

/** Lists a kind of resources in a range. */
export type List = (request: ScimRequest, range: ListRange) => Promise<ListPart>;

/** The methods of a kind of resources. `id` is not checked. */
export interface ResourceHandlers {
  readonly list: List;
  get(request: ScimRequest, id: string): Promise<EndpointResponse>;
  create(request: ScimRequest): Promise<EndpointResponse>;
  replace(request: ScimRequest, id: string): Promise<EndpointResponse>;
  patch(request: ScimRequest, id: string): Promise<EndpointResponse>;
  remove(request: ScimRequest, id: string): Promise<EndpointResponse>;
}

/** The part of a list that a client requests. */
export interface ListRange {
  readonly filter: Filter | undefined;
  /** The first resource, from 1 (RFC 7644 §3.4.2.4). */
  readonly startIndex: number;
  readonly count: number;
}

/** Returns the uid of a resource with this id. */
export function uidOf({ provider }: Pick<ScimRequest, "provider">, id: string): string {
  return `${provider.uid}/${id}`;
}

/** Returns the request with the parameters in its body (RFC 7644 §3.4.3). */
export function searchRequest(request: ScimRequest): ScimRequest {
  const body = readResource(request, "urn:ietf:params:scim:api:messages:2.0:SearchRequest");
  const parameters = new Map<string, string>();
  for (const [name, value] of Object.entries(body)) {
    const text = parameterText(value);
    if (text !== undefined) parameters.set(name.toLowerCase(), text);
  }
  return { ...request, parameters };
}

/** Returns a parameter as the text that it has in a query: names of attributes are a list in a body. */
function parameterText(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.filter((each) => typeof each === "string").join(",");
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

/** Reads the body of a POST or PUT. */
export function readResource(request: ScimRequest, schema: string): JsonObject {
  const body = request.json();
  if (!isJsonObject(body)) throw scimError("invalidSyntax", "the body must be a JSON object");
  const names = Array.isArray(body.schemas) ? body.schemas : [];
  if (!names.some((each) => typeof each === "string" && each.toLowerCase() === schema.toLowerCase()))
    throw scimError("invalidSyntax", `schemas: must contain ${schema}`);
  return body;
}

/** Reads filter, startIndex and count. */
export function readRange({ parameters }: ScimRequest): ListRange {
  const filter = parameters.get("filter");
  const count = readInteger(parameters, "count", scimLimits.defaultCount);
  return {
    filter: filter === undefined || filter.trim() === "" ? undefined : parseFilter(filter),
    // RFC 7644 §3.4.2.4: less than one means one, a negative count means none.
    startIndex: Math.max(1, readInteger(parameters, "startindex", 1)),
    count: Math.min(Math.max(0, count), scimLimits.maxCount),
  };
}

function readInteger(parameters: ScimRequest["parameters"], name: string, otherwise: number): number {
  const text = parameters.get(name);
  if (text === undefined) return otherwise;
  if (!/^-?\d{1,9}$/.test(text)) throw scimError("invalidValue", `${name}: must be a whole number`);
  return Number(text);
}

/** Reads attributes and excludedAttributes. */
export function readProjection({ parameters }: ScimRequest): Projection {
  const namesOf = (name: string) => {
    const text = parameters.get(name) ?? "";
    if (text.length > scimLimits.filterLength)
      throw scimError("invalidValue", `${name}: must not be longer than ${scimLimits.filterLength} characters`);
    return text
      .split(",")
      .map((each) => each.trim().toLowerCase())
      .filter((each) => each !== "");
  };
  const only = namesOf("attributes");
  return { only: only.length > 0 ? only : undefined, without: namesOf("excludedattributes") };
}

/** Throws 412 if the client knows another version of the resource (RFC 7644 §3.14). */
export function requireMatch({ call }: ScimRequest, row: { readonly version: number }): void {
  const tags = call.header("if-match");
  if (tags === undefined) return;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, "");
  if (tags.split(",").some((tag) => tag.trim() === "*" || opaque(tag) === opaque(etagOf(row)))) return;
  throw statusError(412, Code.ABORTED, `If-Match: the version of the resource is ${etagOf(row)}`);
}

/** Returns the response with a resource. */
export function resourceResponse(
  request: ScimRequest,
  status: number,
  row: { readonly version: number },
  resource: ScimResource,
): EndpointResponse {
  const { location } = resource.meta as { location: string };
  const body = JSON.stringify(project(resource, readProjection(request)));
  const headers = { "content-type": scimType, ...(status === 201 && { location }) };
  const etag = etagOf(row);
  // RFC 9110 §13.1.2: only a GET is answered with 304.
  return request.isRead
    ? { status, headers, body, validators: { etag } }
    : { status, headers: { ...headers, etag }, body };
}

/** Returns a response with a document. */
export function documentResponse(document: object): EndpointResponse {
  return { status: 200, headers: { "content-type": scimType }, body: JSON.stringify(document) };
}

/** The response to a request whose result has no content. */
export const noContent: EndpointResponse = { status: 204, headers: {} };
