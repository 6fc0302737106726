// Reads the details of an API error (google.rpc error details, AIP-193).
import { durationMs } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
} from "../../../gen/google/rpc/error_details_pb.ts";

/** A field of the request that breaks a rule. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** A condition that the request needs and the resource does not meet. */
export interface PreconditionViolation {
  /** For example RESOURCE_NOT_EMPTY. */
  readonly type: string;
  readonly subject: string;
  readonly description: string;
}

/** The details of an error. */
export interface ErrorDetails {
  /** For example PERMISSION_DENIED; empty if the error is not one of Gatehouse. */
  readonly reason: string;
  readonly domain: string;
  /** For example the missing `capability` and the group (`scope`) of a denial. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly fieldViolations: readonly FieldViolation[];
  readonly preconditionViolations: readonly PreconditionViolation[];
  /** By which the operator finds the request in the log. */
  readonly requestId: string;
  /** How long to wait before the next attempt, if the server says so. */
  readonly retryAfterMs: number | undefined;
}

/** Returns the details of an error that a call failed with. Errors without details have empty ones. */
export function errorDetails(thrown: unknown): ErrorDetails {
  const error = ConnectError.from(thrown);
  const [info] = error.findDetails(ErrorInfoSchema);
  return {
    reason: info?.reason ?? "",
    domain: info?.domain ?? "",
    metadata: info?.metadata ?? {},
    fieldViolations: error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations),
    preconditionViolations: error.findDetails(PreconditionFailureSchema).flatMap(({ violations }) => violations),
    requestId: error.metadata.get("x-request-id") ?? "",
    retryAfterMs: retryAfterMs(error),
  };
}

/** gRPC has the time in the details, HTTP in a header as well (RFC 9110 §10.2.3). */
function retryAfterMs(error: ConnectError): number | undefined {
  const [retry] = error.findDetails(RetryInfoSchema);
  if (retry?.retryDelay) return durationMs(retry.retryDelay);
  const header = error.metadata.get("retry-after");
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const time = Date.parse(header);
  return Number.isNaN(time) ? undefined : Math.max(0, time - Date.now());
}
