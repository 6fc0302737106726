// Error responses by status, as transport/rest/rest-response.ts sends them.
import type { JsonObject } from "@bufbuild/protobuf";
import { accessRuleOf } from "../authz/rules.ts";
import type { Binding } from "../transport/rest/http-rule.ts";

/** The statuses of an operation, and when it responds with them. */
interface ErrorResponse {
  readonly description: string;
  readonly canOccur: (binding: Binding) => boolean;
  readonly headers?: JsonObject;
}

const always = () => true;

const responses: Readonly<Record<string, ErrorResponse>> = {
  "400": {
    description:
      "The request breaks a rule, which the error names (`INVALID_ARGUMENT`), or something stands in its way (`FAILED_PRECONDITION`).",
    canOccur: always,
  },
  "401": {
    description: "No valid token came with the request (`UNAUTHENTICATED`).",
    canOccur: takesCredential,
    headers: { "WWW-Authenticate": { description: "The scheme, RFC 9110 §11.6.1.", schema: { type: "string" } } },
  },
  "403": { description: "The caller may not do this (`PERMISSION_DENIED`).", canOccur: takesCredential },
  "404": {
    description: "What the request names is not there (`NOT_FOUND`).",
    canOccur: takesCredential,
  },
  "409": {
    description: "It is there already (`ALREADY_EXISTS`), or another change came first (`ABORTED`).",
    canOccur: isWrite,
  },
  "413": { description: "The body is too large (`RESOURCE_EXHAUSTED`).", canOccur: ({ body }) => body !== "none" },
  "429": {
    description: "Too much was asked for (`RESOURCE_EXHAUSTED`).",
    canOccur: always,
    headers: {
      "Retry-After": { description: "Seconds to wait, where waiting helps.", schema: { type: "integer", minimum: 0 } },
    },
  },
  "500": { description: "The server failed (`INTERNAL`).", canOccur: always },
  "501": { description: "This server does not offer it (`UNIMPLEMENTED`).", canOccur: always },
  "503": { description: "The server cannot answer now; try again (`UNAVAILABLE`).", canOccur: always },
  "504": { description: "The answer took too long (`DEADLINE_EXCEEDED`).", canOccur: always },
  default: { description: "Any other error.", canOccur: always },
};

/** Makes the responses that all operations of a document share. They have the same body. */
export function errorComponents(schema: JsonObject): JsonObject {
  const content = { "application/json": { schema } };
  return Object.fromEntries(
    Object.entries(responses).map(([status, { description, headers }]) => {
      return [nameOf(status), { description, ...(headers && { headers }), content }];
    }),
  );
}

/** Returns references to the error responses of an operation, by status. */
export function errorResponses(binding: Binding): JsonObject {
  const possible = Object.entries(responses).filter(([, { canOccur }]) => canOccur(binding));
  return Object.fromEntries(possible.map(([status]) => [status, { $ref: `#/components/responses/${nameOf(status)}` }]));
}

/** Returns a name that no schema has: generators would use it for both. */
function nameOf(status: string): string {
  return status === "default" ? "Error" : `Error${status}`;
}

/** Whether a method requires a token, or a credential in its request. */
function takesCredential({ method: { descriptor } }: Binding): boolean {
  return accessRuleOf(descriptor)?.type !== "open" || descriptor.input.fields.length > 0;
}

function isWrite({ httpMethod }: Binding): boolean {
  return httpMethod !== "GET";
}
