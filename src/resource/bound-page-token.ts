// Binds page tokens to one query of one caller.
import { hash } from "node:crypto";
import { type Message, toBinary } from "@bufbuild/protobuf";
import { invalidField } from "../aip/errors.ts";
import { isExpired, type PageToken, parsePageToken } from "../aip/page-token.ts";
import { callerOf, methodOf } from "../pipeline/authorize.ts";
import type { Call } from "../pipeline/call.ts";
import type { ServiceContext } from "./service-context.ts";

/**
 * Returns the page token of a request, or undefined for the first page. An expired token restarts the list, and the response
 * header `x-page-token-expired` says so. `query` is the digest of the request, `order` its `order_by` if it has one. Throws
 * INVALID_ARGUMENT for a token of another query or order.
 */
export function readToken(
  context: Pick<ServiceContext, "pageTokenKey" | "clock">,
  call: Call,
  text: string,
  query: string,
  order?: string,
): PageToken | undefined {
  if (text === "") return undefined;
  const token = parsePageToken(context.pageTokenKey, text);
  if (!token) throw invalidField("page_token", "is not a page token of this service");
  if (token.query !== query) throw invalidField("page_token", "was made for another query, method or caller");
  if (order !== undefined && order !== token.order) throw invalidField("page_token", "was made for another order_by");
  if (!isExpired(token, context.clock())) return token;
  call.setResponseHeader("x-page-token-expired", "true");
  return undefined;
}

/**
 * Returns a digest of the caller, the narrowing of their token, the method and all request fields except those of paging.
 * `method` is the method that will take the page token, if it is not the called one.
 */
export function queryDigest(call: Call, request: Message, method = methodOf(call)): string {
  const { path, descriptor } = method;
  const filters = toBinary(descriptor.input, {
    ...request,
    pageSize: 0,
    pageToken: "",
    orderBy: "",
    skip: 0,
  } as Message);
  const who = sessionOf(callerOf(call));
  // The lengths keep different tuples from having the same bytes.
  const head = Buffer.from(`${who.length}:${who}${path.length}:${path}${filters.length}:`);
  return hash("sha256", Buffer.concat([head, filters]), "base64url").slice(0, 22);
}

/**
 * Identifies the caller together with the narrowing and mappings of the session. A page token contains a row of an earlier page,
 * so a session that sees fewer or other rows must not continue with it.
 */
function sessionOf({ uid, token: { narrowing, mappings = [] } }: ReturnType<typeof callerOf>): string {
  const { scopes, capabilities } = narrowing;
  if (!scopes && !capabilities && mappings.length === 0) return uid;
  return JSON.stringify([uid, scopes?.toSorted(), capabilities && [...capabilities], mappings.toSorted()]);
}
