import type { DescMethodUnary } from "@bufbuild/protobuf";
import type { Caller } from "../authn/caller.ts";
import type { Access, Scope } from "../authz/access.ts";
import { randomHex } from "../base/random.ts";
import type { Session } from "../storage/engine/session.ts";

/** Which transport a request came through. */
export type TransportName = "rest" | "grpc" | "grpc-web" | "connect";

/** The method that a call invokes. */
export interface CalledMethod {
  /** The gRPC path of the method: `/package.Service/Method`. */
  readonly path: string;
  readonly descriptor: DescMethodUnary;
}

/**
 * What the pipeline and the handlers know of a request besides its message.
 *
 * The transport makes it; the pipeline adds `caller` and `access`. Handlers may add reply headers.
 */
export interface Call {
  readonly transport: TransportName;
  /** Names the request in the log and in error metadata. */
  readonly requestId: string;
  /** The address of the client, which may be behind trusted proxies: for limits per client and for logs. Empty when unknown. */
  readonly clientAddress: string;
  /** Stands for the connection: one object for all of its requests, which lives no longer. Absent when unknown. */
  readonly connection?: object | undefined;
  /** Whether the client asks for the headers of the response alone (RFC 9110 §9.3.2). Nothing is then delivered that is delivered once. */
  readonly isHead?: boolean | undefined;
  /** A header of the request by its lower-case name; undefined when absent. Repeated headers are joined by ", ". */
  header(name: string): string | undefined;
  /** What every transport sets on the reply; names in lower case. */
  readonly replyHeaders: ReadonlyMap<string, string>;
  /** Adds a header to the reply. */
  setReplyHeader(name: string, value: string): void;
  /** Aborted when the client goes away or its deadline passes. */
  readonly signal: AbortSignal | undefined;
  /** The method that is called. Set by the pipeline, which then logs the call. */
  method?: CalledMethod;
  /** Who is calling. Set by the authenticate step; absent for methods that are open to all. */
  caller?: Caller;
  /** What the caller may do. Set together with `caller`. */
  access?: Access;
  /** The subtrees that an unscoped method may show. Set by the authorize step. */
  scope?: Scope;
  /** The snapshot that several methods read from which answer one request together; absent for a request of one method. */
  snapshot?: Session;
}

/** What a transport says of a request. The signal is asked for only when a handler listens. */
type CallInit = Pick<Call, "transport" | "requestId" | "clientAddress" | "connection" | "isHead" | "header"> & {
  readonly signal?: () => AbortSignal | undefined;
};

/** Names a request: 32 hexadecimal digits, as W3C Trace Context §3.2.2.3 has its trace-id. */
export function newRequestId(): string {
  return randomHex(16);
}

const noHeaders: ReadonlyMap<string, string> = new Map();

/** Makes the call of one request. */
export function newCall(init: CallInit): Call {
  return new RequestCall(init);
}

/** The same call, as another method sees it. What that sets on its reply is set on the reply of the call. */
export function callAs(call: Call, method: CalledMethod): Call {
  return {
    ...call,
    method,
    get signal() {
      return call.signal;
    },
    get replyHeaders() {
      return call.replyHeaders;
    },
    setReplyHeader: (name, value) => call.setReplyHeader(name, value),
  };
}

// A class, so that what few calls need is made by those that do.
class RequestCall implements Call {
  readonly transport: TransportName;
  readonly requestId: string;
  readonly clientAddress: string;
  readonly connection: object | undefined;
  readonly isHead: boolean | undefined;
  readonly header: Call["header"];
  readonly #signal: (() => AbortSignal | undefined) | undefined;
  #replyHeaders: Map<string, string> | undefined;

  constructor({ transport, requestId, clientAddress, connection, isHead, header, signal }: CallInit) {
    this.transport = transport;
    this.requestId = requestId;
    this.clientAddress = clientAddress;
    this.connection = connection;
    this.isHead = isHead;
    this.header = header;
    this.#signal = signal;
  }

  get signal(): AbortSignal | undefined {
    return this.#signal?.();
  }

  get replyHeaders(): ReadonlyMap<string, string> {
    return this.#replyHeaders ?? noHeaders;
  }

  setReplyHeader(name: string, value: string): void {
    this.#replyHeaders ??= new Map();
    this.#replyHeaders.set(name, value);
  }
}
