// Whatever a handler threw becomes an error of our vocabulary, complete with its ErrorInfo.
import type { DescService } from "@bufbuild/protobuf";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { ApiError, Code, detail, type ErrorDetail, toApiError, unavailable } from "../aip/errors.ts";
import { ReferenceViolation, StorageReadOnly, StorageUnavailable, UniqueViolation } from "../storage/engine/errors.ts";

/** The domain of ErrorInfo for a service: its product area, `iam` where no service is called, before that of the installation. */
export function errorDomain(service: DescService | undefined, domain: string): string {
  const area =
    /^(?:chainguard\.platform|gatehouse)\.(registry|vulnerabilities|events)\b/.exec(service?.typeName ?? "")?.[1] ??
    "iam";
  return `${area}.${domain}`;
}

/** AIP-193: every error has an ErrorInfo. These are the details with one, which has the domain if it is not there yet. */
export function completeDetails({ details, reason, metadata }: ApiError, domain: string): readonly ErrorDetail[] {
  if (details.some(({ schema }) => schema.typeName === ErrorInfoSchema.typeName)) return details;
  return [detail(ErrorInfoSchema, { reason, domain, metadata: { ...metadata } }), ...details];
}

/** The error with all its details. */
export function completeError(error: ApiError, domain: string): ApiError {
  const details = completeDetails(error, domain);
  if (details === error.details) return error;
  const { code, message, reason, metadata, cause } = error;
  return new ApiError(code, message, { details, reason, metadata, cause });
}

/** An error that a caller may see. Only the log learns what an unexpected error was. */
export function finishError(error: unknown, domain: string): ApiError {
  const known = expectedError(error);
  return new ApiError(known.code, known.message, {
    details: completeDetails(known, domain),
    reason: known.reason,
    metadata: known.metadata,
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
