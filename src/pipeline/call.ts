import type { DescMethodServerStreaming, DescMethodUnary } from "@bufbuild/protobuf";
import type { Caller } from "../authn/caller.ts";
import type { Access, Scope } from "../authz/access.ts";
import { randomHex } from "../base/random.ts";
import type { Precondition, Session } from "../storage/engine/session.ts";
import type { CallLifetime } from "./call-lifetime.ts";

/** The transport of a request. */
export type TransportName = "rest" | "grpc" | "grpc-web" | "connect";

/** The method that a call invokes. */
export interface CalledMethod {
  /** The gRPC path of the method: `/package.Service/Method`. */
  readonly path: string;
  readonly descriptor: DescMethodUnary | DescMethodServerStreaming;
}

/**
 * The context of a request, without its message, for the pipeline and the handlers. The transport creates it, the pipeline adds `caller`
 * and `access`, and handlers may add response headers.
 */
export interface Call {
  readonly transport: TransportName;
  /** Identifies the request in the response, the log and the audit log. */
  readonly requestId: string;
  /** The address of the client, behind trusted proxies: for limits per client and for logs. Empty when unknown. */
  readonly clientAddress: string;
  /** One object per connection, which lives as long. Absent when unknown. */
  readonly connection?: object | undefined;
  /** Whether another process of this server forwarded the call, and observes it; false if absent. */
  readonly isForwarded?: boolean | undefined;
  /** Whether the client sent HEAD (RFC 9110 §9.3.2). Handlers must not deliver anything that they deliver only once. */
  readonly isHead?: boolean | undefined;
  /** Whether it continues a response that has begun: no budget rejects it; false if absent. */
  readonly isAdmitted?: boolean | undefined;
  /** Whether the connection closes once its calls have ended: streams without an end must end. Absent where that never happens. */
  readonly isConnectionClosing?: (() => boolean) | undefined;
  /** Returns a header of the request by its lower-case name. Repeated headers are joined by ", ". */
  header(name: string): string | undefined;
  /** Headers of the response, by lower-case name. */
  readonly responseHeaders: ReadonlyMap<string, string>;
  /** Sets a header of the response. */
  setResponseHeader(name: string, value: string): void;
  /** Aborted when the client disconnects or the deadline passes. */
  readonly signal: AbortSignal | undefined;
  /** The lifetime of the call; undefined for work without an end, such as that of a program. */
  readonly lifetime?: CallLifetime | undefined;
  /** Set by the pipeline, which then logs the call. */
  method?: CalledMethod;
  /** Set by authentication; absent for methods that are open to all. */
  caller?: Caller | undefined;
  /** The access of the caller. Set together with `caller`. */
  access?: Access | undefined;
  /** The subtrees that an unscoped method may show. Set by authorization. */
  scope?: Scope;
  /** The uid of a role binding of the caller, who may delete it without a capability. Set by the pipeline. */
  ownBinding?: string;
  /** The snapshot that several methods share for one request; absent for a request of one method. */
  snapshot?: Session;
  /** The condition that the client set by If-Match; undefined without. Set by the pipeline. */
  precondition?: Precondition | undefined;
}

/** The fields of a call that its transport sets. `signal` is called on first use. */
type CallInit = Pick<
  Call,
  | "transport"
  | "requestId"
  | "clientAddress"
  | "connection"
  | "isForwarded"
  | "isHead"
  | "isConnectionClosing"
  | "header"
  | "lifetime"
> & {
  readonly signal?: () => AbortSignal | undefined;
};

/** Returns a random request id: 32 hexadecimal digits, like the trace-id of W3C Trace Context §3.2.2.3. */
export function newRequestId(): string {
  return randomHex(16);
}

const noHeaders: ReadonlyMap<string, string> = new Map();

/** Creates the call of a request. */
export function newCall(init: CallInit): Call {
  return new RequestCall(init);
}

/** Returns a view of a call for another method, without caller and access. Response headers are set on the call itself. */
export function callAs(call: Call, method: CalledMethod): Call {
  return {
    ...call,
    method,
    get signal() {
      return call.signal;
    },
    get responseHeaders() {
      return call.responseHeaders;
    },
    setResponseHeader: (name, value) => call.setResponseHeader(name, value),
  };
}

// A class, because it creates the headers and the signal on first use.
class RequestCall implements Call {
  readonly transport: TransportName;
  readonly requestId: string;
  readonly clientAddress: string;
  readonly connection: object | undefined;
  readonly isForwarded: boolean | undefined;
  readonly isHead: boolean | undefined;
  readonly isConnectionClosing: (() => boolean) | undefined;
  readonly header: Call["header"];
  readonly lifetime: CallLifetime | undefined;
  readonly #signal: (() => AbortSignal | undefined) | undefined;
  #responseHeaders: Map<string, string> | undefined;

  constructor({
    transport,
    requestId,
    clientAddress,
    connection,
    isForwarded,
    isHead,
    isConnectionClosing,
    header,
    lifetime,
    signal,
  }: CallInit) {
    this.transport = transport;
    this.requestId = requestId;
    this.clientAddress = clientAddress;
    this.connection = connection;
    this.isForwarded = isForwarded;
    this.isHead = isHead;
    this.isConnectionClosing = isConnectionClosing;
    this.header = header;
    this.lifetime = lifetime;
    this.#signal = signal;
  }

  get signal(): AbortSignal | undefined {
    return this.#signal?.();
  }

  get responseHeaders(): ReadonlyMap<string, string> {
    return this.#responseHeaders ?? noHeaders;
  }

  setResponseHeader(name: string, value: string): void {
    this.#responseHeaders ??= new Map();
    this.#responseHeaders.set(name, value);
  }
}
