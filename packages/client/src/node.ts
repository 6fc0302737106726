// Clients in Node.
import { readFile } from "node:fs/promises";
import { createConnectTransport, createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { type ClientOptions, type GatehouseClient, newClient, type TransportOptions } from "./client.ts";
import { type GitHubActionsOptions, gitHubActionsToken as newGitHubActionsToken } from "./github-actions.ts";
import { newSessions } from "./sessions.ts";
import { readToken, type TokenSource } from "./tokens.ts";

export { GitHubActionsError } from "./github-actions.ts";
export * from "./index.ts";

/** The options of a client in Node. */
export interface NodeClientOptions extends ClientOptions {
  /** gRPC by default; Connect passes proxies that do not know trailers. Both use HTTP/2. */
  readonly protocol?: "grpc" | "connect";
}

/** Opens a client that uses one HTTP/2 connection. Close it, or the process does not end while the connection is idle. */
export function openClient(options: NodeClientOptions): GatehouseClient {
  const { sessionManager, close } = newSessions(options.url, async () => new Http2SessionManager(options.url));
  const open = (transport: TransportOptions) =>
    options.protocol === "connect"
      ? createConnectTransport({ ...transport, sessionManager, httpVersion: "2" })
      : createGrpcTransport({ ...transport, sessionManager });
  return newClient(options, open, close);
}

/** Returns the tokens in a file that another program replaces, such as a projected token of Kubernetes. */
export function fileToken(file: string): TokenSource {
  return readToken(async () => {
    const token = (await readFile(file, "utf8")).trim();
    if (token === "") throw new Error(`${file} is empty`);
    return token;
  });
}

/** Returns the identity tokens of the GitHub Actions job that the program runs in. */
export function gitHubActionsToken(
  options: Pick<GitHubActionsOptions, "audience"> & Partial<GitHubActionsOptions>,
): TokenSource {
  return newGitHubActionsToken({ environment: process.env, ...options });
}
