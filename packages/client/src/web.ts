// Clients in browsers, and wherever else there is `fetch`.
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { type ClientOptions, type GatehouseClient, newClient } from "./client.ts";

export * from "./index.ts";

/** The options of a client in a browser. */
export interface WebClientOptions extends ClientOptions {
  /** Connect with JSON by default, which the developer tools of browsers show. */
  readonly protocol?: "connect" | "grpc-web";
}

/** Returns a client that uses `fetch`. A page of another origin needs `--cors-origins`. */
export function openClient(options: WebClientOptions): GatehouseClient {
  const open = options.protocol === "grpc-web" ? createGrpcWebTransport : createConnectTransport;
  return newClient(options, open, () => {});
}
