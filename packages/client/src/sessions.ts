// Connections to a server by HTTP/2.
import type { GrpcTransportOptions, Http2SessionManager } from "@connectrpc/connect-node";

/** The connections of a transport. */
export interface Sessions {
  readonly sessionManager: NonNullable<GrpcTransportOptions["sessionManager"]>;
  close(): void;
}

/** Returns connections that `open` opens, again after one has failed. Some, such as those through a proxy, cannot reconnect themselves. */
export function newSessions(url: string, open: () => Promise<Http2SessionManager>): Sessions {
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
  return {
    sessionManager: {
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
    },
    close: () =>
      void sessions?.then(
        (manager) => manager.abort(),
        () => {},
      ),
  };
}
