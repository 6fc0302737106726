// A server of the API's protocol that fails in the ways that a test lists before it succeeds. A real one cannot be made to.
import { createServer as createHttp1Server } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Session } from "node:http2";
import { type AddressInfo, createServer } from "node:net";
import { type ConnectRouter, createContextValues } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";

/** A failure of a call: an error, or a connection that breaks. */
export type Failure = Error | "broken connection";

/** A running server. */
export interface FailingServer extends AsyncDisposable {
  readonly url: string;
  /** The times of calls, in milliseconds. */
  readonly calls: number[];
  /** The tokens that calls had. */
  readonly tokens: string[];
  /** How often it was asked for its discovery document. */
  questions: number;
}

/** The discovery document of a server that takes idempotency keys. */
const usualDocument = { idempotency_keys_supported: true };

/**
 * Starts a server that fails once in each of these ways. `documents` are its discovery documents, one after the other, of which the last
 * stays; undefined is a failure.
 */
export async function startFailingServer(
  failures: readonly Failure[],
  documents: readonly (object | undefined)[] = [usualDocument],
): Promise<FailingServer> {
  const left = [...failures];
  const calls: number[] = [];
  const tokens: string[] = [];
  const sessions = new Set<ServerHttp2Session>();
  async function respond(_request: unknown, { requestHeader }: { readonly requestHeader: Headers }) {
    calls.push(performance.now());
    tokens.push(requestHeader.get("authorization") ?? "");
    const failure = left.shift();
    if (failure === "broken connection") for (const session of sessions) session.destroy();
    else if (failure) throw failure;
    return {};
  }
  const routes = (router: ConnectRouter) =>
    router.service(GroupsService, { listGroups: respond, createGroup: respond, deleteGroup: respond });
  const calling = createHttp2Server(connectNodeAdapter({ routes, contextValues: () => createContextValues() }));
  calling.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  const discovering = createHttp1Server((_request, response) => {
    const document = documents[Math.min(running.questions++, documents.length - 1)];
    response.writeHead(document ? 200 : 503).end(JSON.stringify(document));
  });
  // As the real server does, both protocols have one port.
  const server = createServer((socket) => {
    socket.once("data", (first) => {
      socket.pause();
      socket.unshift(first);
      (first.toString("latin1").startsWith("PRI") ? calling : discovering).emit("connection", socket);
      process.nextTick(() => socket.resume());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const running = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    tokens,
    questions: 0,
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      discovering.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return running;
}
