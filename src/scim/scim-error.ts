// The errors of SCIM (RFC 7644 §3.12).
import { ApiError, Code } from "../aip/errors.ts";
import type { EndpointResponse } from "../transport/pages/endpoints.ts";

/** The media type of SCIM (RFC 7644 §8.1). */
export const scimType = "application/scim+json";

const errorSchema = "urn:ietf:params:scim:api:messages:2.0:Error";

/** The detail errors of RFC 7644 §3.12, table 9. */
export type ScimErrorType =
  | "invalidFilter"
  | "tooMany"
  | "uniqueness"
  | "mutability"
  | "invalidSyntax"
  | "invalidPath"
  | "noTarget"
  | "invalidValue";

/** Returns an error for the client with status 400, or 409 for `uniqueness`. */
export function scimError(type: ScimErrorType, detail: string): ApiError {
  const code = type === "uniqueness" ? Code.ALREADY_EXISTS : Code.INVALID_ARGUMENT;
  return new ApiError(code, detail, { metadata: { scimType: type } });
}

/** Returns an error with this status, which differs from that of its code. */
export function statusError(status: number, code: Code, detail: string): ApiError {
  return new ApiError(code, detail, { metadata: { status: String(status) } });
}

/** Returns the error for an id that no resource of the provider has. */
export function resourceNotFound(id: string): ApiError {
  return new ApiError(Code.NOT_FOUND, `there is no resource with the id ${JSON.stringify(id.slice(0, 64))}`);
}

/** Makes the error response. `usual` is the status for the code of the error. */
export function refuseScim({ code, message, metadata }: ApiError, usual: number): EndpointResponse {
  // RFC 7644 §3.12: the state of the service does not allow the change.
  const status = metadata.status ?? String(code === Code.FAILED_PRECONDITION ? 409 : usual);
  // A body that cannot be parsed is rejected before it gets here.
  const type = metadata.scimType ?? (usual === 400 && status === "400" ? "invalidSyntax" : undefined);
  return {
    status: Number(status),
    headers: { "content-type": scimType },
    body: JSON.stringify({ schemas: [errorSchema], status, ...(type && { scimType: type }), detail: message }),
  };
}
