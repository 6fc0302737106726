import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { errorDetails } from "../../../packages/client/src/errors.ts";
import { withRetries } from "../../../packages/client/src/retry.ts";

/** The longest delay that a command waits for, in milliseconds, and how often. The time limit of the call counts besides. */
const maxDelayMs = 30_000;
const maxRetries = 3;

/** Repeats calls that the server did not execute because of a rate limit, when it asks for them again. */
export const waitForRateLimit: Interceptor = (next) => (request) =>
  request.stream ? next(request) : withRetries(() => next(request), { delayMs, signal: request.signal });

function delayMs(error: unknown, retries: number): number | undefined {
  if (ConnectError.from(error).code !== Code.ResourceExhausted || retries >= maxRetries) return undefined;
  const { retryAfterMs } = errorDetails(error);
  return retryAfterMs !== undefined && retryAfterMs <= maxDelayMs ? retryAfterMs : undefined;
}
