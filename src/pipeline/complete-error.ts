// Turns any value that a handler throws into an ApiError with ErrorInfo.
import type { DescService } from "@bufbuild/protobuf";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { ApiError, Code, detail, type ErrorDetail, toApiError, unavailable } from "../aip/errors.ts";
import { ReferenceViolation, StorageReadOnly, StorageUnavailable, UniqueViolation } from "../storage/engine/errors.ts";

/** Returns the domain of ErrorInfo: the area of the service, or `iam` without one, and the domain of the installation. */
export function errorDomain(service: DescService | undefined, domain: string): string {
  const area =
    /^(?:chainguard\.platform|gatehouse)\.(registry|vulnerabilities|events)\b/.exec(service?.typeName ?? "")?.[1] ??
    "iam";
  return `${area}.${domain}`;
}

/** Returns the details of an error. AIP-193: adds an ErrorInfo with this domain if there is none. */
export function completeDetails({ details, reason, metadata }: ApiError, domain: string): readonly ErrorDetail[] {
  if (details.some(({ schema }) => schema.typeName === ErrorInfoSchema.typeName)) return details;
  return [detail(ErrorInfoSchema, { reason, domain, metadata: { ...metadata } }), ...details];
}

/** Returns the error with an ErrorInfo. */
export function completeError(error: ApiError, domain: string): ApiError {
  const details = completeDetails(error, domain);
  if (details === error.details) return error;
  const { code, message, reason, metadata, cause } = error;
  return new ApiError(code, message, { details, reason, metadata, cause });
}

/** Converts any error to one for the caller. Only its cause, which is for the log, shows an unexpected error. */
export function finishError(error: unknown, domain: string): ApiError {
  const known = expectedError(error);
  return new ApiError(known.code, known.message, {
    details: completeDetails(known, domain),
    reason: known.reason,
    metadata: known.metadata,
    isExpected: known.isExpected,
    cause: known === error ? known.cause : error,
  });
}

function expectedError(error: unknown): ApiError {
  if (error instanceof StorageReadOnly) return unavailable("the database cannot be written now", error);
  if (error instanceof StorageUnavailable) return unavailable("the database cannot serve now", error);
  if (error instanceof UniqueViolation || error instanceof ReferenceViolation) {
    return new ApiError(Code.ABORTED, "Aborted: another change came first; try again", { cause: error });
  }
  return toApiError(error);
}
