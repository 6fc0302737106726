// Calls of the API by Connect, with the token of the session.
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { QueryClient } from "@tanstack/react-query";
import { errorDetails } from "../../../packages/client/src/errors.ts";
import { apiToken, dropToken, SessionError } from "../session/session.ts";

const withToken: Interceptor = (next) => async (request) => {
  const send = async () => {
    request.header.set("authorization", `Bearer ${await sessionToken()}`);
    return await next(request);
  };
  try {
    return await send();
  } catch (error) {
    // The signing keys may have been rotated, or the clock of this machine may be wrong.
    if (ConnectError.from(error).code !== Code.Unauthenticated || error instanceof SessionError) throw error;
    dropToken();
    return await send();
  }
};

async function sessionToken(): Promise<string> {
  try {
    return await apiToken();
  } catch (error) {
    if (!(error instanceof SessionError)) throw error;
    throw new ConnectError(error.message, error.status === 401 ? Code.Unauthenticated : Code.Unavailable);
  }
}

/** Requests do not stand in addresses: no GET. */
export const transport = createConnectTransport({ baseUrl: location.origin, interceptors: [withToken] });

/** Returns whether an error is worth another attempt. */
export function isTemporary(error: unknown): boolean {
  return [Code.Unavailable, Code.Unknown, Code.DeadlineExceeded].includes(ConnectError.from(error).code);
}

/** The shortest pause after a rate limit, in milliseconds. */
const leastPauseMs = 500;

/** Returns how long a rate limit asks to wait, in milliseconds; undefined if there was none. */
function retryAfterOf(error: unknown): number | undefined {
  const limited = ConnectError.from(error);
  if (limited.code !== Code.ResourceExhausted) return undefined;
  const { retryAfterMs } = errorDetails(limited);
  // Several calls wait for the same moment: with a pause of a millisecond they would reject each other.
  return retryAfterMs === undefined ? undefined : Math.max(retryAfterMs, leastPauseMs);
}

/** Calls again after the pause that a rate limit asks for: the call that it rejected has done nothing. */
export async function whenAdmitted<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const pauseMs = retryAfterOf(error);
      if (pauseMs === undefined || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/** The cache of responses. Old data stays on the page while it is read again. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      refetchInterval: 30_000,
      refetchOnWindowFocus: true,
      retry: (attempts, error) => (isTemporary(error) || retryAfterOf(error) !== undefined) && attempts < 20,
      retryDelay: (_, error) => retryAfterOf(error) ?? 4000,
    },
  },
});
