// The Connect transport: gRPC, gRPC-web and Connect through connect-node, for every method of the table.

import type { DescService } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter } from "@connectrpc/connect";
import { ApiError, toApiError, unimplemented } from "../../aip/errors.ts";
import { memoizeByObject, onceLoaded } from "../../base/lazy.ts";
import { completeError } from "../../pipeline/complete-error.ts";
import { methodPath } from "../../pipeline/compose.ts";
import { isMethodPath } from "../../pipeline/lazy-methods.ts";
import type { Method, MethodTable } from "../../pipeline/method.ts";
import { callOf } from "../http/call.ts";
import type { ExchangeHandler, MessageExchange } from "../http/exchange.ts";
import type { RequestHead } from "../http/head.ts";
import { maxOperationBytes } from "../http/message-size.ts";
import { reject } from "../http/rejection.ts";
import type { AdapterOptions, MethodHandler } from "./adapter.ts";
import { checkCallHead, checkLength } from "./call-head.ts";
import { ConnectCall } from "./connect-call.ts";
import { type CallRejection, isConnectStream, newCallRejection, transportOfContentType } from "./error-response.ts";

/** The methods and services to serve, and the limits of calls. */
export interface RouterOptions extends AdapterOptions {
  readonly methods: MethodTable;
  /** Services outside the method table, such as those with streams, by name. */
  readonly operations: Readonly<Record<string, Operation>>;
}

/** Loads a service on first use. Resolves to the function that registers it. */
export type Operation = () => Promise<(router: ConnectRouter) => void>;

/** The options, and what is made of them once. */
interface Router extends RouterOptions {
  readonly rejectCall: CallRejection;
  /** The handler of the methods of a service, made on first use. */
  readonly methodHandler: (service: DescService) => Promise<MethodHandler>;
  /** The handlers of `operations`, made on first use. */
  readonly operationHandlers: ReadonlyMap<string, () => Promise<ExchangeHandler>>;
}

/** Makes the handler of all calls. Other requests go to `fallback`. */
export function newRouter(options: RouterOptions): ExchangeHandler {
  const router = composeRouter(options);
  return (exchange) => {
    const { head, response } = exchange;
    const { path } = head;
    if (!isMethodPath(path)) return router.fallback(exchange);
    const method = router.methods.get(path);
    const operation = method ? undefined : router.operationHandlers.get(serviceOf(path));
    if (!method && !operation) return router.fallback(exchange);
    // gRPC sends the status in trailers, which HTTP/1.0 lacks: an error would look like an empty response.
    if (exchange.request.httpVersion === "1.0" && transportOf(head) === "grpc") return reject(response, 505);
    // RFC 9110 §15.5.6: a 405 names what is allowed.
    if (head.method !== "POST") response.setHeader("allow", "POST");
    return method ? serveMethod(method, exchange, router) : serveOperation(operation!, exchange, router);
  };
}

function composeRouter(options: RouterOptions): Router {
  const rejectCall = newCallRejection(options);
  const composed: AdapterOptions = {
    ...options,
    // A method that connect-node does not find in a known service is as unknown as one in an unknown service.
    fallback: (exchange) => rejectUnknown(exchange, rejectCall, options.fallback),
  };
  const methodsOf = (service: DescService) =>
    service.methods.flatMap((descriptor) => options.methods.get(methodPath(descriptor)) ?? []);
  const operations = Object.entries(options.operations).map(
    ([service, load]) => [service, onceLoaded(() => loadOperation(load, composed))] as const,
  );
  const methodHandlers = memoizeByObject((service: DescService) =>
    onceLoaded(() => loadMethods(methodsOf(service), composed)),
  );
  return {
    ...options,
    ...composed,
    rejectCall,
    methodHandler: (service) => methodHandlers(service)(),
    operationHandlers: new Map(operations),
  };
}

/** connect-node takes a tenth of a start to load: the first request that needs it waits. */
async function loadMethods(methods: readonly Method[], options: AdapterOptions): Promise<MethodHandler> {
  const { adaptMethods } = await import("./adapter.ts");
  return adaptMethods(methods, options);
}

async function loadOperation(load: Operation, options: AdapterOptions): Promise<ExchangeHandler> {
  const { adapt } = await import("./adapter.ts");
  return adapt(await load(), options);
}

/** Passes a call of a service outside the table to connect-node, unless its announced message is too long. */
async function serveOperation(
  loadHandler: () => Promise<ExchangeHandler>,
  exchange: MessageExchange,
  router: Router,
): Promise<void> {
  const handler = await loadHandler();
  const { head } = exchange;
  const isStream = isConnectStream(head);
  const transport = isStream ? "connect" : transportOf(head);
  if (!transport) return handler(exchange);
  const call = callOf(head, transport);
  try {
    checkLength(call, router.maxOperationBytes ?? maxOperationBytes, isStream || transport !== "connect");
  } catch (error) {
    return router.rejectCall(exchange, call, toApiError(error));
  }
  return handler(exchange);
}

/**
 * Authenticates the caller before connect-node decodes the message: a few compressed bytes of an anonymous caller may hold
 * millions of values.
 */
async function serveMethod(method: Method, exchange: MessageExchange, router: Router): Promise<void> {
  const handler = await router.methodHandler(method.descriptor.parent);
  const transport = isConnectGet(exchange.head, method) ? "connect" : transportOf(exchange.head);
  // connect-node responds 405 or 415.
  if (!transport) return handler(exchange);
  const connectCall = new ConnectCall(exchange.head, transport);
  const { call } = connectCall;
  let isHandedOver = false;
  try {
    connectCall.response = method.call(call, () => {
      checkCallHead(call, router.maxBodyBytes);
      handler(exchange, connectCall);
      isHandedOver = true;
      return connectCall.request;
    });
    await connectCall.response;
  } catch (error) {
    // connect-node responds with the errors of calls that it was given.
    if (isHandedOver) return;
    if (!(error instanceof ApiError)) throw error;
    router.rejectCall(exchange, call, completeError(error, method.errorDomain));
  }
}

/** Connect protocol, "Unary-Get-Request": methods without side effects can be called by GET. */
function isConnectGet({ method }: MessageExchange["head"], { descriptor }: Method): boolean {
  return method === "GET" && descriptor.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

/**
 * Responds to a call of an unknown method in its protocol. Other requests go to `fallback`: JSON and protobuf are content
 * types of REST, too, so only the path shows that a Connect client sent the request.
 */
function rejectUnknown(
  exchange: MessageExchange,
  rejectCall: CallRejection,
  fallback: ExchangeHandler,
): void | Promise<void> {
  const { head } = exchange;
  const transport = transportOf(head);
  if (!transport || (transport === "connect" && !isMethodPath(head.path))) return fallback(exchange);
  rejectCall(exchange, callOf(head, transport), unimplemented(`there is no method ${head.path}`));
}

/** The transport of a unary call; undefined for any other request. */
function transportOf(head: RequestHead): ReturnType<typeof transportOfContentType> {
  return head.method === "POST" ? transportOfContentType(head) : undefined;
}

function serviceOf(path: string): string {
  return path.slice(1, path.indexOf("/", 1));
}
