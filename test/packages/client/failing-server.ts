// A server of the API's protocol that fails in the ways that a test lists before it succeeds. A real one cannot be made to.
import { createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
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
}

/** Starts a server that fails once in each of these ways. */
export async function startFailingServer(failures: readonly Failure[]): Promise<FailingServer> {
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
  const server = createServer(connectNodeAdapter({ routes, contextValues: () => createContextValues() }));
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    tokens,
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
