// Connections to a server, over which calls go.
import type { Interceptor, Transport } from "@connectrpc/connect";
import type { Target } from "./credential.ts";
import { connectThroughProxy } from "./proxy.ts";

/** How long one call may take, in milliseconds. */
export const callTimeoutMs = 60_000;

/** A transport, and how to let go of its connection. */
export interface Opened {
  readonly transport: Transport;
  close(): void;
}

/** The tokens that calls are sent with. */
export interface Tokens {
  /** The token to send. */
  current(): Promise<string>;
  /** Another one in place of what the server does not accept any more; undefined when there is none. */
  renewed(rejected: string): Promise<string | undefined>;
}

/** Opens a gRPC transport, the protocol that every server of this API speaks. */
export async function openTransport(url: string, tokens: Tokens): Promise<Opened> {
  const [{ createGrpcTransport, Http2SessionManager }, { Code, ConnectError }] = await Promise.all([
    import("@connectrpc/connect-node"),
    import("@connectrpc/connect"),
  ]);
  let sessions: Promise<InstanceType<typeof Http2SessionManager>> | undefined;
  async function openSessions() {
    const connection = await connectThroughProxy(url, callTimeoutMs);
    return new Http2SessionManager(url, undefined, connection && { createConnection: () => connection });
  }
  /** What is connected through a proxy is connected once; after that a new manager has a new connection. */
  async function findSessions() {
    const before = sessions;
    const known = await before?.catch(() => undefined);
    const isUsable = known !== undefined && known.state() !== "error";
    // Another call may have opened one meanwhile.
    if (!isUsable && sessions === before) sessions = openSessions();
    return await sessions!;
  }
  const heard = new WeakSet<object>();
  const withToken: Interceptor = (next) => async (request) => {
    const token = await tokens.current();
    request.header.set("authorization", `Bearer ${token}`);
    try {
      return await next(request);
    } catch (error) {
      // Such as after `keys rotate --retire-now`: the token would be good for some time yet, and is refused.
      if (request.stream || !(error instanceof ConnectError) || error.code !== Code.Unauthenticated) throw error;
      const renewed = await tokens.renewed(token);
      if (renewed === undefined) throw error;
      request.header.set("authorization", `Bearer ${renewed}`);
      return await next(request);
    }
  };
  const transport = createGrpcTransport({
    baseUrl: url,
    sessionManager: {
      authority: new URL(url).origin,
      async request(...args) {
        const manager = await findSessions();
        const stream = await manager.request(...args);
        // Its call fails, too. A session that ends of itself tells it once more, when the manager does not listen any longer.
        const { session } = stream;
        if (session && !heard.has(session)) session.on("error", () => {});
        if (session) heard.add(session);
        return stream;
      },
      notifyResponseByteRead: (stream) => void sessions?.then((manager) => manager.notifyResponseByteRead(stream)),
    },
    interceptors: [withToken],
    defaultTimeoutMs: callTimeoutMs,
  });
  return {
    transport,
    close: () =>
      void sessions?.then(
        (manager) => manager.abort(),
        () => {},
      ),
  };
}

/** Calls the issuer of a target with a credential of another kind than a session's. */
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

/** The same transport, whose failures say what to try. */
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
