// Connections to a server.
import type { Interceptor, Transport } from "@connectrpc/connect";
import type { GrpcTransportOptions, Http2SessionManager } from "@connectrpc/connect-node";
import type { Target } from "./credential.ts";
import { connectThroughProxy } from "./proxy.ts";

/** The time limit of one call, in milliseconds. */
export const callTimeoutMs = 60_000;

/** A transport, and a function that closes its connection. */
export interface Opened {
  readonly transport: Transport;
  close(): void;
}

/** The tokens of a session. */
export interface Tokens {
  /** Returns the token to send. */
  current(): Promise<string>;
  /** Returns another token after the server rejected one; undefined if there is none. */
  renewed(rejected: string): Promise<string | undefined>;
}

/** Opens a gRPC transport, which every server of this API supports. */
export async function openTransport(url: string, tokens: Tokens): Promise<Opened> {
  const [{ createGrpcTransport, Http2SessionManager: Sessions }, { Code, ConnectError }] = await Promise.all([
    import("@connectrpc/connect-node"),
    import("@connectrpc/connect"),
  ]);
  const isRejected = (error: unknown) => error instanceof ConnectError && error.code === Code.Unauthenticated;
  const { sessionManager, close } = reconnecting(url, async () => {
    const connection = await connectThroughProxy(url, callTimeoutMs);
    return new Sessions(url, undefined, connection && { createConnection: () => connection });
  });
  const transport = createGrpcTransport({
    baseUrl: url,
    sessionManager,
    interceptors: [withToken(tokens, isRejected)],
    defaultTimeoutMs: callTimeoutMs,
  });
  return { transport, close };
}

/** Sends the token of the session, and another one once if the server rejects it. */
function withToken(tokens: Tokens, isRejected: (error: unknown) => boolean): Interceptor {
  return (next) => async (request) => {
    const token = await tokens.current();
    request.header.set("authorization", `Bearer ${token}`);
    try {
      return await next(request);
    } catch (error) {
      // For example after `keys rotate --retire-now`: the token has not expired, but is rejected.
      if (request.stream || !isRejected(error)) throw error;
      const renewed = await tokens.renewed(token);
      if (renewed === undefined) throw error;
      request.header.set("authorization", `Bearer ${renewed}`);
      return await next(request);
    }
  };
}

/** A connection through a proxy cannot reconnect, so a new one needs a new session manager, which `open` returns. */
function reconnecting(url: string, open: () => Promise<Http2SessionManager>) {
  let sessions: Promise<Http2SessionManager> | undefined;
  async function findSessions() {
    const before = sessions;
    const known = await before?.catch(() => undefined);
    const isUsable = known !== undefined && known.state() !== "error";
    // A concurrent call may have opened one.
    if (!isUsable && sessions === before) sessions = open();
    return await sessions!;
  }
  const heard = new WeakSet<object>();
  const sessionManager: NonNullable<GrpcTransportOptions["sessionManager"]> = {
    authority: new URL(url).origin,
    async request(...args) {
      const manager = await findSessions();
      const stream = await manager.request(...args);
      // Its call fails as well. A session that closes reports the error again after the manager stops listening.
      const { session } = stream;
      if (session && !heard.has(session)) session.on("error", () => {});
      if (session) heard.add(session);
      return stream;
    },
    notifyResponseByteRead: (stream) => void sessions?.then((manager) => manager.notifyResponseByteRead(stream)),
  };
  const close = () =>
    void sessions?.then(
      (manager) => manager.abort(),
      () => {},
    );
  return { sessionManager, close };
}

/** Calls the issuer of a target with a bearer token other than the session's. */
export async function withBearer<T>(
  target: Target,
  token: string,
  body: (transport: Transport) => Promise<T>,
): Promise<T> {
  const { transport, close } = await openTransport(target.issuer, {
    current: async () => token,
    renewed: async () => undefined,
  });
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
