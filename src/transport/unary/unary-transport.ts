// The short way for unary calls of gRPC, gRPC-web and Connect: from the request straight to the method and back. What it does
// not recognise by the head it leaves alone, and connect-node serves it: streams, compression, odd encodings.

import type { Registry } from "@bufbuild/protobuf";
import { ApiError, Code, toApiError } from "../../aip/errors.ts";
import { isPromise } from "../../base/maybe-promise.ts";
import { type Call, newCall } from "../../pipeline/call.ts";
import { completeError } from "../../pipeline/complete-error.ts";
import type { Method, MethodTable } from "../../pipeline/method.ts";
import type { ChunkLimits } from "../http/chunk-limits.ts";
import { clientAddress, clientAddressOfStream } from "../http/client-address.ts";
import type { Cors } from "../http/cors.ts";
import { Deadline } from "../http/deadline.ts";
import type { StreamHandler } from "../http/handlers.ts";
import { connectionOf, type HttpRequest, type HttpResponse } from "../http/message.ts";
import type { BodyLimits } from "../http/request-body.ts";
import { requestIdOf, requestIdOfStream } from "../http/request-id.ts";
import { connect } from "./connect-protocol.ts";
import { type Exchange, requestExchange, StreamExchange } from "./exchange.ts";
import { grpc } from "./grpc.ts";
import { grpcWeb } from "./grpc-web.ts";
import type { HeaderOf, Protocol } from "./protocol.ts";

/** What the transport of unary calls needs, and its limits. */
export interface FastOptions extends BodyLimits, ChunkLimits {
  readonly methods: MethodTable;
  /** How long a call may take that brings no deadline. */
  readonly requestTimeoutMs: number;
  /** Deadlines that are further away are as if they were this far. */
  readonly maxTimeoutMs: number;
  /** How many arrays and objects of JSON may lie in one another. */
  readonly maxJsonDepth: number;
  /** The headers of every response to a request of this origin: see cors.ts. None when absent. */
  readonly headersFor?: Cors["headersFor"];
  /** The types that stand in the details of errors. */
  readonly detailTypes: Registry;
  /** Hears why a call got no answer at all. */
  readonly onError?: (error: unknown) => void;
}

/** The short way, for either version of HTTP. */
export interface FastPath {
  readonly stream: StreamHandler;
  /** Takes a request and answers it, or leaves it untouched and says no. */
  request(request: HttpRequest, response: HttpResponse): boolean;
}

/** Makes the short way. */
export function newFastPath(options: FastOptions): FastPath {
  const { proto, json } = connect({ registry: options.detailTypes, maxDepth: options.maxJsonDepth });
  const overHttp1: ReadonlyMap<string, Protocol> = new Map([
    ["application/grpc-web", grpcWeb],
    ["application/grpc-web+proto", grpcWeb],
    ["application/proto", proto],
    ["application/json", json],
  ]);
  const overHttp2 = new Map([...overHttp1, ["application/grpc", grpc], ["application/grpc+proto", grpc]]);
  return {
    stream(stream, headers, rawHeaders) {
      const method = options.methods.get(headers[":path"] ?? "");
      if (!method || headers[":method"] !== "POST" || isRepeated(rawHeaders, "authorization")) return false;
      const header: HeaderOf = (name) => headers[name]?.toString();
      const plan = planOf(overHttp2, header, options);
      if (!plan) return false;
      const { session } = stream;
      const call = newCallOf(plan, {
        requestId: requestIdOfStream(session, headers),
        clientAddress: clientAddressOfStream(session, headers),
        connection: session,
        header,
      });
      // For requests cors.ts sets them around the handler; streams do not pass through it.
      const allowed = options.headersFor?.(headers.origin, method.path) ?? [];
      for (const [name, value] of allowed) call.setReplyHeader(name, value);
      const exchange = new StreamExchange(stream, options.maxBodyBytes, options, plan.protocol.prefixBytes);
      run(method, plan, call, exchange, options);
      return true;
    },
    request(request, response) {
      if (request.method !== "POST" || request.httpVersionMajor !== 1) return false;
      const method = options.methods.get(request.url ?? "");
      if (!method) return false;
      const header: HeaderOf = (name) => request.headers[name]?.toString();
      const plan = planOf(overHttp1, header, options);
      if (!plan) return false;
      const call = newCallOf(plan, {
        requestId: requestIdOf(request),
        clientAddress: clientAddress(request),
        connection: connectionOf(request),
        header,
      });
      run(method, plan, call, requestExchange(request, response, options, plan.protocol.prefixBytes), options);
      return true;
    },
  };
}

/** What the head of a request says about the rest of it. */
interface Plan {
  readonly protocol: Protocol;
  readonly timeoutMs: number;
}

/** Undefined when the request needs more than one message in, one out. */
function planOf(
  protocols: ReadonlyMap<string, Protocol>,
  header: HeaderOf,
  { requestTimeoutMs, maxTimeoutMs }: FastOptions,
): Plan | undefined {
  const protocol = protocols.get(header("content-type") ?? "");
  if (!protocol || header("expect") !== undefined) return undefined;
  const encoding = header(protocol.encodingHeader) ?? "identity";
  const timeoutMs = protocol.timeoutOf(header);
  if (encoding !== "identity" || timeoutMs === undefined) return undefined;
  return { protocol, timeoutMs: Math.min(timeoutMs || requestTimeoutMs, maxTimeoutMs) };
}

/** Node keeps the first of several Authorization headers; a request with two must not pass for one with the first. */
function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let seen = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i] === name) seen++;
  return seen > 1;
}

type CallInit = Pick<Call, "requestId" | "clientAddress" | "connection" | "header">;

function newCallOf({ protocol }: Plan, { requestId, clientAddress, connection, header }: CallInit): Call {
  return newCall({ transport: protocol.transport, requestId, clientAddress, connection, header });
}

/** Serves one call. The deadline and the method race; the exchange sends the first answer and drops the other. */
async function run(
  method: Method,
  { protocol, timeoutMs }: Plan,
  call: Call,
  exchange: Exchange,
  { maxBodyBytes, onError }: FastOptions,
): Promise<void> {
  const fail = (thrown: unknown) => {
    try {
      exchange.reply(protocol.failure(completeError(toApiError(thrown), method.errorDomain)), call);
    } catch (error) {
      // With too many open files the words for a failure cannot be loaded, and nobody else hears of what is thrown here.
      onError?.(error);
      exchange.cutOff();
    }
  };
  const deadline = new Deadline(timeoutMs, () => fail(expired()));
  try {
    const body = await exchange.body;
    const response = method.call(call, () => {
      // The deadline has passed while the body arrived or the caller was authenticated: do not start the method.
      if (exchange.hasReplied()) throw expired();
      return protocol.parse(method, body, maxBodyBytes);
    });
    exchange.reply(protocol.success(method, isPromise(response) ? await response : response), call);
  } catch (error) {
    fail(error);
  } finally {
    deadline.meet();
  }
}

function expired(): ApiError {
  return new ApiError(Code.DEADLINE_EXCEEDED, "the deadline has passed");
}
