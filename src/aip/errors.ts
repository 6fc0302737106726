// AIP-193: the vocabulary of errors. Services and pipeline steps throw only errors created here.
import { create, type DescMessage, type Message, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { Code } from "../../gen/google/rpc/code_pb.ts";
import {
  type BadRequest,
  BadRequestSchema,
  PreconditionFailureSchema,
  ResourceInfoSchema,
  type RetryInfo,
  RetryInfoSchema,
} from "../../gen/google/rpc/error_details_pb.ts";
import { clip } from "../base/clip.ts";

export { Code };

/** The maximum number of violations in one error; it limits the response to a hostile request. */
export const maxViolations = 20;

/** The maximum length of an error message, and of one violation, in UTF-16 units. */
const maxMessage = 1000;

/** A typed detail of an error, with the descriptor that encodes it. */
export interface ErrorDetail<T extends DescMessage = DescMessage> {
  readonly schema: T;
  readonly value: MessageShape<T>;
}

/** A violation of one field. */
export interface FieldViolation {
  /** The field path in proto spelling, relative to the resource of the request: `name`, `claim_match.issuer`. */
  readonly field: string;
  /** The rule that the field breaks, as words that follow its path: `must be a uid`. */
  readonly description: string;
}

/**
 * An error for the caller.
 *
 * `reason` and `metadata` become the ErrorInfo detail. The pipeline adds its domain, because it knows the service.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: Code;
  readonly details: readonly ErrorDetail[];
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Whether clients that wait get this error again and again. The log has it at level debug only. */
  readonly isExpected: boolean;

  constructor(code: Code, message: string, options: ApiErrorOptions = {}) {
    // Callers of the constructor clip texts from requests; this is the last resort against endless responses and log
    // lines.
    super(clip(message, maxMessage), options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? [];
    this.reason = options.reason ?? codeName(code);
    this.metadata = options.metadata ?? {};
    this.isExpected = options.isExpected ?? false;
  }
}

/** The parts of an error besides its code and message. */
export interface ApiErrorOptions {
  readonly details?: readonly ErrorDetail[];
  /** The machine-readable reason. Defaults to the name of the code. */
  readonly reason?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Logged, never sent to the caller. */
  readonly cause?: unknown;
  /** Whether it is logged at level debug only. */
  readonly isExpected?: boolean;
}

/** Converts anything thrown to an error for the caller. The cause of an unexpected error is for the log only. */
export function toApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(Code.INTERNAL, "Internal error", { cause: error });
}

/** Returns the canonical name of a code, such as `NOT_FOUND`. */
export function codeName(code: Code): string {
  return codeNames[code] ?? "UNKNOWN";
}

const codeNames: Record<number, string> = Object.fromEntries(Object.entries(Code).map(([name, code]) => [code, name]));

/** INVALID_ARGUMENT with one BadRequest violation per field, at most `maxViolations`. The message names the first. */
export function invalidArgument(violations: readonly FieldViolation[]): ApiError {
  const fieldViolations = violations.slice(0, maxViolations).map(({ field, description }) => {
    return { field: clip(field), description: clip(description, maxMessage) };
  });
  const [first] = fieldViolations;
  const message = first ? `Invalid argument: ${first.field}: ${first.description}` : "Invalid argument";
  return new ApiError(Code.INVALID_ARGUMENT, message, { details: [detail(BadRequestSchema, { fieldViolations })] });
}

/** INVALID_ARGUMENT for a single field. */
export function invalidField(field: string, description: string): ApiError {
  return invalidArgument([{ field, description }]);
}

/** Returns the violations of an error, or undefined if it has no BadRequest detail. */
export function fieldViolationsOf({ details }: ApiError): readonly FieldViolation[] | undefined {
  const found = details.find(({ schema }) => schema.typeName === BadRequestSchema.typeName);
  return found && (found.value as BadRequest).fieldViolations;
}

/** FAILED_PRECONDITION with a PreconditionFailure violation of the given type, such as `RESOURCE_NOT_EMPTY`. */
export function failedPrecondition(type: string, description: string, subject = ""): ApiError {
  const message = clip(`Precondition failed: ${description}`, maxMessage);
  return new ApiError(Code.FAILED_PRECONDITION, message, {
    details: [
      detail(PreconditionFailureSchema, { violations: [{ type, description: message, subject: clip(subject) }] }),
    ],
  });
}

/** A resource that violates a precondition. */
export interface PreconditionViolation {
  readonly description: string;
  /** The uid of the resource. */
  readonly subject: string;
}

/** FAILED_PRECONDITION by several resources. The first `maxViolations` are named. */
export function failedPreconditions(
  type: string,
  description: string,
  violations: readonly PreconditionViolation[],
): ApiError {
  const named = violations
    .slice(0, maxViolations)
    .map((each) => ({ type, description: clip(each.description), subject: clip(each.subject) }));
  return new ApiError(Code.FAILED_PRECONDITION, clip(`Precondition failed: ${description}`, maxMessage), {
    details: [detail(PreconditionFailureSchema, { violations: named })],
  });
}

/** NOT_FOUND for a resource of the given type (`iam.chainguard.dev/Group`). */
export function notFound(resourceType: string, name: string): ApiError {
  const resourceName = clip(name);
  return new ApiError(Code.NOT_FOUND, `Not found: ${shortType(resourceType)} ${resourceName}`, {
    details: [detail(ResourceInfoSchema, { resourceType, resourceName })],
  });
}

/** ALREADY_EXISTS for a resource of the given type; `clash` names the conflict. */
export function alreadyExists(resourceType: string, name: string, clash: string): ApiError {
  const [resourceName, description] = [clip(name), clip(clash)];
  return new ApiError(Code.ALREADY_EXISTS, `Already exists: ${description}`, {
    details: [detail(ResourceInfoSchema, { resourceType, resourceName, description })],
  });
}

/**
 * PERMISSION_DENIED. `metadata` tells the caller what to do, for example the missing capability and where it is
 * required.
 */
export function permissionDenied(description: string, metadata: Readonly<Record<string, string>> = {}): ApiError {
  return new ApiError(Code.PERMISSION_DENIED, `Permission denied: ${description}`, { metadata });
}

/** UNAUTHENTICATED. The cause is logged only. */
export function unauthenticated(description: string, cause?: unknown): ApiError {
  return new ApiError(Code.UNAUTHENTICATED, `Unauthenticated: ${description}`, { cause });
}

/** ABORTED: a concurrent change came first. */
export function aborted(description: string): ApiError {
  return new ApiError(Code.ABORTED, `Aborted: ${description}`);
}

/** RESOURCE_EXHAUSTED: a limit of the server or a quota was reached. */
export function resourceExhausted(description: string): ApiError {
  return new ApiError(Code.RESOURCE_EXHAUSTED, `Resource exhausted: ${description}`);
}

/**
 * RESOURCE_EXHAUSTED with a RetryInfo detail: the rate limit allows the call again after `retryMs` milliseconds,
 * rounded up to seconds as in Retry-After.
 */
export function rateLimited(
  description: string,
  retryMs: number,
  reason?: "RATE_LIMITED" | "TOO_MANY_WATCHES",
): ApiError {
  return new ApiError(Code.RESOURCE_EXHAUSTED, `Resource exhausted: ${description}`, {
    ...(reason && { reason }),
    details: [detail(RetryInfoSchema, { retryDelay: durationFromMs(1000 * Math.ceil(retryMs / 1000)) })],
  });
}

/**
 * Returns the value of a Retry-After header in whole seconds (RFC 9110 §10.2.3), or undefined if retrying does not
 * help.
 */
export function retryAfterOf({ code, details }: ApiError): string | undefined {
  const found = details.find(({ schema }) => schema.typeName === RetryInfoSchema.typeName);
  const delay = found && (found.value as RetryInfo).retryDelay;
  if (delay) return String(Math.ceil(durationMs(delay) / 1000));
  return code === Code.UNAVAILABLE ? "1" : undefined;
}

/** UNAVAILABLE: the caller may retry. */
export function unavailable(description: string, cause?: unknown): ApiError {
  return new ApiError(Code.UNAVAILABLE, `Unavailable: ${description}`, { cause });
}

/** UNAVAILABLE as the planned end of a stream without an end. The client calls again, and continues where it was. */
export function streamEnded(description: string): ApiError {
  return new ApiError(Code.UNAVAILABLE, `Unavailable: ${description}`, { isExpected: true });
}

/** UNIMPLEMENTED. */
export function unimplemented(description: string): ApiError {
  return new ApiError(Code.UNIMPLEMENTED, `Unimplemented: ${description}`);
}

/** Creates a detail from an initializer. */
export function detail<T extends DescMessage>(schema: T, init: MessageInitShape<T>): ErrorDetail {
  return { schema, value: create(schema, init) as Message as MessageShape<DescMessage> };
}

function shortType(resourceType: string): string {
  return resourceType.slice(resourceType.lastIndexOf("/") + 1).toLowerCase();
}
