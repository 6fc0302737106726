// A call as a command: curl for REST and Connect, grpcurl for gRPC. The token is a variable, never its value.
import { type HttpCall, httpCall, messageOf, targetOf } from "../request.ts";
import { type Call, hasToken } from "./call.ts";

const token = `  -H "Authorization: Bearer $TOKEN"`;

/** Returns the call by REST, for a method without a route by Connect. */
export function curl(call: Call): string {
  return curlOf(call, httpCall("rest", call));
}

/** Returns the call by Connect. */
export function connectCurl(call: Call): string {
  return curlOf(call, httpCall("connect", call));
}

function curlOf(call: Call, http: HttpCall): string {
  return [
    `curl${http.method === "GET" ? "" : ` -X ${http.method}`} ${quote(call.origin + targetOf(http))}`,
    ...(hasToken(call) ? [token] : []),
    ...(http.body === undefined ? [] : [`  -H "Content-Type: application/json"`, `  -d ${quote(http.body)}`]),
  ].join(" \\\n");
}

/** Returns the call by gRPC. */
export function grpcurl(call: Call): string {
  const { protocol, host } = new URL(call.origin);
  return [
    `grpcurl${protocol === "http:" ? " -plaintext" : ""}${hasToken(call) ? ` ${token.trim()}` : ""}`,
    `  -d ${quote(JSON.stringify(messageOf(call), null, 2))}`,
    `  ${host} ${call.service}/${call.method.name}`,
  ].join(" \\\n");
}

/** Quotes a text for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
