// A client of one server.
import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { bearerToken } from "./bearer.ts";
import type { Tokens } from "./exchange.ts";
import { keySupportOf } from "./key-support.ts";
import { keyedCalls, type RetryPolicy, retryingCalls } from "./retrying-calls.ts";
import type { Clock } from "./tokens.ts";

/** The options of a client. */
export interface ClientOptions {
  /** For example https://gatehouse.example.com. */
  readonly url: string;
  /** The source of tokens. Without it, calls are anonymous. */
  readonly tokens?: Tokens;
  /** The policy for retries; false for no retries. */
  readonly retry?: RetryPolicy | false;
  /** The time limit of a call with all of its retries; 60 s by default. */
  readonly timeoutMs?: number;
  /** The clock by which tokens expire; that of the system by default. */
  readonly clock?: Clock;
}

/** A client. Disposing of it closes its connections. */
export interface GatehouseClient extends Disposable {
  /** For `createClient` of Connect and for libraries that build on it. */
  readonly transport: Transport;
  /** Returns a typed client of a service. */
  service<S extends DescService>(service: S): Client<S>;
  close(): void;
}

/** The options of a transport. */
export interface TransportOptions {
  readonly baseUrl: string;
  readonly interceptors: Interceptor[];
  readonly defaultTimeoutMs: number;
}

/** Returns a client whose calls go through transports that `open` returns. */
export function newClient(
  options: ClientOptions,
  open: (options: TransportOptions) => Transport,
  close: () => void,
): GatehouseClient {
  const { tokens, retry, timeoutMs: defaultTimeoutMs = 60_000, clock } = options;
  const baseUrl = options.url.replace(/\/+$/, "");
  const retries = retry === false ? [] : [keyedCalls(), retryingCalls(retry, keySupportOf(baseUrl))];
  const openWith = (...interceptors: Interceptor[]) =>
    open({ baseUrl, defaultTimeoutMs, interceptors: [...retries, ...interceptors] });
  const source =
    typeof tokens === "function" ? tokens({ url: baseUrl, transport: openWith(), ...(clock && { clock }) }) : tokens;
  const transport = source ? openWith(bearerToken(source)) : openWith();
  return {
    transport,
    service: (service) => createClient(service, transport),
    close,
    [Symbol.dispose]: close,
  };
}
