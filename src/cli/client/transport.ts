// Connections to a server.
import type { Interceptor, Transport } from "@connectrpc/connect";
import { staticToken, type TokenSource } from "../../../packages/client/src/tokens.ts";
import { version } from "../../base/version.ts";
import type { Target } from "./credential.ts";
import { connectThroughProxy } from "./proxy.ts";
import { reach } from "./reach.ts";

/** The time limit of one call, in milliseconds. */
export const callTimeoutMs = 60_000;

/** A transport, and a function that closes its connection. */
export interface Opened {
  readonly transport: Transport;
  close(): void;
}

/** Opens a gRPC transport, which every server of this API supports. */
export async function openTransport(url: string, tokens: TokenSource): Promise<Opened> {
  const [{ createGrpcTransport, Http2SessionManager }, { bearerToken }, { newSessions }, limits] = await Promise.all([
    import("@connectrpc/connect-node"),
    import("../../../packages/client/src/bearer.ts"),
    import("../../../packages/client/src/sessions.ts"),
    import("./rate-limit.ts"),
  ]);
  const { sessionManager, close } = newSessions(url, async () => {
    const connection = await connectThroughProxy(url, callTimeoutMs);
    return new Http2SessionManager(url, undefined, connection && { createConnection: () => connection });
  });
  const transport = createGrpcTransport({
    baseUrl: url,
    sessionManager,
    interceptors: [named, repeatedWrites(url), limits.waitForRateLimit, bearerToken(tokens)],
    defaultTimeoutMs: callTimeoutMs,
  });
  return { transport, close };
}

/** Names the program in the log of the server (RFC 9110 §10.1.5). */
const named: Interceptor = (next) => (request) => {
  request.header.set("user-agent", `gatehouse/${version}`);
  return next(request);
};

/**
 * Gives writes an idempotency key, and repeats them if the server takes keys, and is unavailable or the connection breaks. Commands that
 * only read do not load what that takes.
 */
function repeatedWrites(url: string): Interceptor {
  return (next) => async (request) => {
    if (/^(?:Get|List|Watch)/.test(request.method.name)) return await next(request);
    const [{ keyedCalls, retryingCalls }, { keySupportOf }] = await Promise.all([
      import("../../../packages/client/src/retrying-calls.ts"),
      import("../../../packages/client/src/key-support.ts"),
    ]);
    const takesKeys = keySupportOf(url, (address) => reach(url, address, { redirect: "manual" }, callTimeoutMs));
    return await keyedCalls()(retryingCalls({ retries: 3 }, takesKeys)(next))(request);
  };
}

/** Calls the issuer of a target with a bearer token other than the session's. */
export async function withBearer<T>(
  target: Target,
  token: string,
  body: (transport: Transport) => Promise<T>,
): Promise<T> {
  const { transport, close } = await openTransport(target.issuer, staticToken(token));
  try {
    return await body(transport);
  } finally {
    close();
  }
}

/** Returns the transport with readable errors. */
export function failing(transport: Transport, target: Target): Transport {
  return {
    async unary(...args) {
      try {
        return await transport.unary(...args);
      } catch (error) {
        throw (await import("./rpc-failure.ts")).toFailure(error, target);
      }
    },
    stream: (...args) => transport.stream(...args),
  };
}
