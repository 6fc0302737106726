// Retries of calls: which, when, and for how long.
import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import {
  type CallOptions,
  Code,
  ConnectError,
  createContextKey,
  createContextValues,
  type Interceptor,
} from "@connectrpc/connect";
import { IdempotencyKeyUse, idempotency_key } from "../../../gen/gatehouse/annotations/v1/idempotency_pb.ts";
import { http } from "../../../gen/google/api/annotations_pb.ts";
import { errorDetails } from "./errors.ts";
import type { KeySupport } from "./key-support.ts";
import { type RetryOptions, withRetries } from "./retry.ts";

/** The policy for retrying calls. */
export interface RetryPolicy {
  /** The maximum number of retries of a call; 4 by default. */
  readonly retries?: number;
  /** The longest delay before the first retry; 200 ms by default. It doubles with each retry. */
  readonly firstDelayMs?: number;
  /** The longest delay; 10 s by default. A call fails at once if the server wants a longer one. */
  readonly maxDelayMs?: number;
}

const repeatable = createContextKey(false, { description: "whether the call may be repeated" });

/** Returns the options of a call that may be repeated, although its method is not idempotent in general. */
export function repeatableCall(options: CallOptions = {}): CallOptions {
  const contextValues = options.contextValues ?? createContextValues();
  return { ...options, contextValues: contextValues.set(repeatable, true) };
}

/** Reports whether a method may be called again after a failure: it is declared idempotent, or its HTTP rule is a GET. */
export function isIdempotent(method: DescMethod): boolean {
  if (method.idempotency === Idempotency.NO_SIDE_EFFECTS || method.idempotency === Idempotency.IDEMPOTENT) return true;
  return hasOption(method, http) && getOption(method, http).pattern.case === "get";
}

/** The header of an idempotency key. A server that takes keys changes nothing again for a call that has one, and returns the first response. */
const keyHeader = "idempotency-key";

/** Reports whether a method takes an idempotency key: it writes, and does not say otherwise. */
export function takesKey(method: DescMethod): boolean {
  const use = getOption(method, idempotency_key);
  return use === IdempotencyKeyUse.TAKEN || (use === IdempotencyKeyUse.UNSPECIFIED && !isIdempotent(method));
}

/** Returns an interceptor that gives each call of a method that takes one a random idempotency key, unless the caller gave it one. */
export function keyedCalls(): Interceptor {
  return (next) => (request) => {
    if (!request.stream && takesKey(request.method) && !request.header.has(keyHeader))
      request.header.set(keyHeader, crypto.randomUUID());
    return next(request);
  };
}

/**
 * Returns an interceptor that repeats unary calls which may be repeated and failed because the server is unreachable, busy or limits
 * the rate. It waits as long as the server asks for, else a random time that grows (exponential back-off with full jitter).
 *
 * `takesKeys` says whether the server takes idempotency keys (`keySupportOf`): without it, a call is not repeated for its key.
 */
export function retryingCalls(policy: RetryPolicy = {}, takesKeys: KeySupport = async () => false): Interceptor {
  const delayMs = delaysOf(policy);
  return (next) => (request) => {
    const { method, contextValues, header } = request;
    const mayRepeat = isIdempotent(method) || contextValues.get(repeatable);
    if (request.stream || !(mayRepeat || header.has(keyHeader))) return next(request);
    const attempt = mayRepeat ? () => next(request) : repeatedByKey(() => next(request), takesKeys);
    // A conflict of a write is one of what its caller read, unless the server says when to repeat the same.
    const isConflict = (error: unknown) =>
      !isIdempotent(method) &&
      ConnectError.from(error).code === Code.Aborted &&
      errorDetails(error).retryAfterMs === undefined;
    return withRetries(attempt, {
      delayMs: (error, retries) =>
        isConflict(error) || error instanceof KeyIgnored ? undefined : delayMs(error, retries),
      signal: request.signal,
    }).catch((error) => {
      throw error instanceof KeyIgnored ? error.cause : error;
    });
  };
}

/** The server ignores keys. The cause is why the call failed. */
class KeyIgnored extends Error {}

/** Returns a function that makes a call, and makes it again only if the server takes keys. Until that is known, it fails as the call did. */
function repeatedByKey<T>(call: () => Promise<T>, takesKeys: KeySupport): () => Promise<T> {
  let failure: { readonly error: unknown } | undefined;
  return async () => {
    if (failure) {
      const { error } = failure;
      const isTaken = await takesKeys().catch(() => {
        throw error;
      });
      if (!isTaken) throw new KeyIgnored("the server ignores the idempotency key", { cause: error });
    }
    try {
      return await call();
    } catch (error) {
      failure = { error };
      throw error;
    }
  };
}

/** Returns the delays of a policy, as `withRetries` takes them. */
export function delaysOf(policy: RetryPolicy): RetryOptions["delayMs"] {
  const { retries: maxRetries = 4, firstDelayMs = 200, maxDelayMs = 10_000 } = policy;
  return (error, retries) => {
    if (retries >= maxRetries || !isTransient(error)) return undefined;
    const askedMs = errorDetails(error).retryAfterMs ?? 0;
    if (askedMs > maxDelayMs) return undefined;
    // Clients that were rejected at the same time must not return at the same time.
    return askedMs + Math.random() * Math.min(maxDelayMs, firstDelayMs * 2 ** retries);
  };
}

/** Reports whether a call may succeed later. A message that is too large is RESOURCE_EXHAUSTED as well, but without a delay. */
function isTransient(thrown: unknown): boolean {
  // `fetch` throws a TypeError if there is no response.
  if (thrown instanceof TypeError) return true;
  const { code } = ConnectError.from(thrown);
  if (code === Code.ResourceExhausted) return errorDetails(thrown).retryAfterMs !== undefined;
  // Connect reports a connection that breaks as CANCELLED. A call that the caller cancels is not repeated in any case.
  return code === Code.Unavailable || code === Code.Aborted || code === Code.Canceled;
}
