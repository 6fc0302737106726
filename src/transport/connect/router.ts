// The Connect transport: gRPC, gRPC-web and Connect through connect-node, for every method of the table.

import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { ApiError, toApiError, unimplemented } from "../../aip/errors.ts";
import { loader, memoizeByObject, once } from "../../base/lazy.ts";
import { completeError } from "../../pipeline/complete-error.ts";
import { methodPath } from "../../pipeline/compose.ts";
import { isMethodPath } from "../../pipeline/lazy-methods.ts";
import type { Method, MethodTable } from "../../pipeline/method.ts";
import type { HttpHandler } from "../http/handlers.ts";
import { type HttpRequest, type HttpResponse, pathOf } from "../http/message.ts";
import { maxOperationBytes } from "../http/message-size.ts";
import { reject } from "../http/rejection.ts";
import type { AdapterOptions, MethodHandler } from "./adapter.ts";
import { checkCallHead, checkLength } from "./call-head.ts";
import { ConnectCall, newConnectCall } from "./connect-call.ts";
import { type CallRejection, isConnectStream, newCallRejection, transportOfContentType } from "./error-response.ts";

/** The methods and services to serve, and the limits of calls. */
export interface RouterOptions extends AdapterOptions {
  readonly methods: MethodTable;
  /** Services outside the method table, such as those with streams, by name. Each registers itself on first use. */
  readonly operations: Readonly<Record<string, (router: ConnectRouter) => void>>;
}

/** The options, and what is made of them once. */
interface Router extends RouterOptions {
  readonly rejectCall: CallRejection;
  /** The handler of the methods of a service, made on first use. */
  readonly methodHandler: (service: DescService) => MethodHandler;
  /** The handlers of `operations`. */
  readonly operationHandlers: ReadonlyMap<string, () => HttpHandler>;
}

const load = loader(import.meta.url);

/** Makes the handler of all calls. Other requests go to `fallback`. */
export function newRouter(options: RouterOptions): HttpHandler {
  const router = composeRouter(options);
  return (request, response) => {
    const path = pathOf(request);
    if (!isMethodPath(path)) return router.fallback(request, response);
    const method = router.methods.get(path);
    const operation = method ? undefined : router.operationHandlers.get(serviceOf(path));
    if (!method && !operation) return router.fallback(request, response);
    // gRPC sends the status in trailers, which HTTP/1.0 lacks: an error would look like an empty response.
    if (request.httpVersion === "1.0" && transportOf(request) === "grpc") return reject(response, 505);
    // RFC 9110 §15.5.6: a 405 names what is allowed.
    if (request.method !== "POST") response.setHeader("allow", "POST");
    return method
      ? serveMethod(method, request, response, router)
      : serveOperation(operation!(), request, response, router);
  };
}

function composeRouter(options: RouterOptions): Router {
  const rejectCall = newCallRejection(options);
  const adapter = once((): typeof import("./adapter.ts") => load("./adapter.ts"));
  const composed: AdapterOptions = {
    ...options,
    // A method that connect-node does not find in a known service is as unknown as one in an unknown service.
    fallback: (request, response) => rejectUnknown(request, response, rejectCall, options.fallback),
  };
  const methodsOf = (service: DescService) =>
    service.methods.flatMap((descriptor) => options.methods.get(methodPath(descriptor)) ?? []);
  const operations = Object.entries(options.operations).map(
    ([service, routes]) => [service, once(() => adapter().adapt(routes, composed))] as const,
  );
  return {
    ...options,
    ...composed,
    rejectCall,
    methodHandler: memoizeByObject((service: DescService) => adapter().adaptMethods(methodsOf(service), composed)),
    operationHandlers: new Map(operations),
  };
}

/** Passes a call of a service outside the table to connect-node, unless its announced message is too long. */
function serveOperation(
  handler: HttpHandler,
  request: HttpRequest,
  response: HttpResponse,
  router: Router,
): void | Promise<void> {
  const isStream = isConnectStream(request);
  const transport = isStream ? "connect" : transportOf(request);
  if (!transport) return handler(request, response);
  const call = newConnectCall(request, transport);
  try {
    checkLength(call, router.maxOperationBytes ?? maxOperationBytes, isStream || transport !== "connect");
  } catch (error) {
    return router.rejectCall(request, response, call, toApiError(error));
  }
  return handler(request, response);
}

/**
 * Authenticates the caller before connect-node decodes the message: a few compressed bytes of an anonymous caller may hold
 * millions of values.
 */
async function serveMethod(
  method: Method,
  request: HttpRequest,
  response: HttpResponse,
  router: Router,
): Promise<void> {
  const handler = router.methodHandler(method.descriptor.parent);
  const transport = transportOf(request);
  // connect-node responds 405 or 415.
  if (!transport) return handler(request, response);
  const connectCall = new ConnectCall(request, transport);
  const { call } = connectCall;
  let isHandedOver = false;
  try {
    connectCall.response = method.call(call, () => {
      checkCallHead(call, router.maxBodyBytes);
      handler(request, response, connectCall);
      isHandedOver = true;
      return connectCall.request;
    });
    await connectCall.response;
  } catch (error) {
    // connect-node responds with the errors of calls that it was given.
    if (isHandedOver) return;
    if (!(error instanceof ApiError)) throw error;
    router.rejectCall(request, response, call, completeError(error, method.errorDomain));
  }
}

/**
 * Responds to a call of an unknown method in its protocol. Other requests go to `fallback`: JSON and protobuf are content
 * types of REST, too, so only the path shows that a Connect client sent the request.
 */
function rejectUnknown(
  request: HttpRequest,
  response: HttpResponse,
  rejectCall: CallRejection,
  fallback: HttpHandler,
): void | Promise<void> {
  const transport = transportOf(request);
  const path = pathOf(request);
  if (!transport || (transport === "connect" && !isMethodPath(path))) return fallback(request, response);
  rejectCall(request, response, newConnectCall(request, transport), unimplemented(`there is no method ${path}`));
}

/** The transport of a unary call; undefined for any other request. */
function transportOf(request: HttpRequest): ReturnType<typeof transportOfContentType> {
  return request.method === "POST" ? transportOfContentType(request) : undefined;
}

function serviceOf(path: string): string {
  return path.slice(1, path.indexOf("/", 1));
}
