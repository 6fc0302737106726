// Connections to a server, over which calls go.
import type { Interceptor, Transport } from "@connectrpc/connect";
import type { Target } from "./credential.ts";

/** How long one call may take, in milliseconds. */
export const callTimeoutMs = 60_000;

/** A transport, and how to let go of its connection. */
export interface Opened {
  readonly transport: Transport;
  close(): void;
}

/** Opens a gRPC transport, the protocol that every server of this API speaks. */
export async function openTransport(url: string, authorize: (headers: Headers) => Promise<void>): Promise<Opened> {
  const { createGrpcTransport, Http2SessionManager } = await import("@connectrpc/connect-node");
  const sessionManager = new Http2SessionManager(url);
  const heard = new WeakSet<object>();
  const withToken: Interceptor = (next) => async (request) => {
    await authorize(request.header);
    return await next(request);
  };
  const transport = createGrpcTransport({
    baseUrl: url,
    sessionManager: {
      authority: sessionManager.authority,
      async request(...args: Parameters<typeof sessionManager.request>) {
        const stream = await sessionManager.request(...args);
        // Its call fails, too. A session that ends of itself tells it once more, when the manager does not listen any longer.
        const { session } = stream;
        if (session && !heard.has(session)) session.on("error", () => {});
        if (session) heard.add(session);
        return stream;
      },
      notifyResponseByteRead: (stream) => sessionManager.notifyResponseByteRead(stream),
    },
    interceptors: [withToken],
    defaultTimeoutMs: callTimeoutMs,
  });
  return { transport, close: () => sessionManager.abort() };
}

/** Calls the issuer of a target with a credential of another kind than a session's. */
export async function withBearer<T>(
  target: Target,
  token: string,
  body: (transport: Transport) => Promise<T>,
): Promise<T> {
  const { transport, close } = await openTransport(target.issuer, async (headers) => {
    headers.set("authorization", `Bearer ${token}`);
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
