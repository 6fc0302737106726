// The complete door: gRPC, gRPC-web and Connect by way of connect-node, for every method of the table.

import type { ConnectRouter } from "@connectrpc/connect";
import { toApiError, unimplemented } from "../../aip/errors.ts";
import { loader } from "../../base/lazy.ts";
import { type Call, type DoorName, newCall } from "../../pipeline/call.ts";
import { completeError } from "../../pipeline/complete-error.ts";
import { isMethodPath } from "../../pipeline/lazy-methods.ts";
import type { Method, MethodTable } from "../../pipeline/method.ts";
import { clientAddress } from "../http/client-address.ts";
import type { HttpHandler } from "../http/handlers.ts";
import { connectionOf, type HttpRequest, type HttpResponse, pathOf, readHeader } from "../http/message.ts";
import { maxOperationBytes } from "../http/message-size.ts";
import { reject } from "../http/rejection.ts";
import { requestIdOf } from "../http/request-id.ts";
import type { AdapterOptions } from "./adapter.ts";
import { checkLength, checkRpcHead } from "./call-head.ts";
import { type CallRejection, doorByType, isConnectStream, newCallRejection } from "./error-response.ts";

/** The methods and services to serve, and the limits of calls. */
export interface RouterOptions extends AdapterOptions {
  readonly methods: MethodTable;
  /** Services outside the method table, such as those with streams, by name. Each registers itself on first use. */
  readonly operations: Readonly<Record<string, (router: ConnectRouter) => void>>;
}

const load = loader(import.meta.url);

/** Makes the request listener of both HTTP versions. What serves a service is made with its first request. */
export function newRouter(routerOptions: RouterOptions): HttpHandler {
  const made = new Map<string, HttpHandler>();
  const refuse = newCallRejection(routerOptions);
  const { fallback } = routerOptions;
  // What connect-node does not find in a service that it knows is as unknown as what is in none.
  const options = {
    ...routerOptions,
    fallback: (request: HttpRequest, response: HttpResponse) => unknown(request, response, refuse, fallback),
  };
  return (request, response) => {
    const path = pathOf(request);
    if (!isMethodPath(path)) return options.fallback(request, response);
    const method = options.methods.get(path);
    const name = method?.descriptor.parent.typeName ?? serviceOf(path);
    let handler = made.get(name);
    if (!handler) {
      handler = handlerOf(name, method, options);
      if (!handler) return options.fallback(request, response);
      made.set(name, handler);
    }
    // What a call came to is in trailers, which HTTP/1.0 has not: a failure would look like an empty reply.
    if (request.httpVersion === "1.0" && doorOf(request) === "grpc") return reject(response, 505);
    // RFC 9110 §15.5.6: a 405 names what is allowed.
    if (request.method !== "POST") response.setHeader("allow", "POST");
    return method
      ? serve(method, handler, request, response, refuse, options)
      : serveOperation(handler, request, response, refuse, options);
  };
}

/** Lets connect-node have calls of services that are not in the table, unless they announce too long a message. */
function serveOperation(
  handler: HttpHandler,
  request: HttpRequest,
  response: HttpResponse,
  refuse: CallRejection,
  options: RouterOptions,
): void | Promise<void> {
  const isStream = isConnectStream(request);
  const door = isStream ? "connect" : doorOf(request);
  if (!door) return handler(request, response);
  const call = callOf(request, door);
  try {
    checkLength(call, options.maxOperationBytes ?? maxOperationBytes, isStream || door !== "connect");
  } catch (error) {
    return refuse(request, response, call, toApiError(error));
  }
  return handler(request, response);
}

/**
 * Lets connect-node have what it may decode: it does so before the method is asked, and what a stranger has compressed into a
 * few bytes may hold millions of values.
 */
async function serve(
  method: Method,
  handler: HttpHandler,
  request: HttpRequest,
  response: HttpResponse,
  refuse: CallRejection,
  { maxBodyBytes }: RouterOptions,
): Promise<void> {
  const door = doorOf(request);
  if (!door) return handler(request, response);
  const call = callOf(request, door);
  try {
    await method.authenticate(call);
    checkRpcHead(call, maxBodyBytes);
  } catch (error) {
    return refuse(request, response, call, completeError(toApiError(error), method.errorDomain));
  }
  return handler(request, response);
}

/**
 * Answers a call of an unknown method in the words of its protocol. What is no RPC goes to the others: of JSON and protobuf
 * only the path tells whether a client of Connect sent it, since REST has the same content types.
 */
function unknown(
  request: HttpRequest,
  response: HttpResponse,
  refuse: CallRejection,
  fallback: HttpHandler,
): void | Promise<void> {
  const door = doorOf(request);
  if (!door || (door === "connect" && !isMethodPath(pathOf(request)))) return fallback(request, response);
  refuse(request, response, callOf(request, door), unimplemented(`there is no method ${pathOf(request)}`));
}

/** The door of a call of one message; undefined for any other request. */
function doorOf(request: HttpRequest): ReturnType<typeof doorByType> {
  return request.method === "POST" ? doorByType(request) : undefined;
}

function callOf(request: HttpRequest, door: DoorName): Call {
  return newCall({
    door,
    requestId: requestIdOf(request),
    clientAddress: clientAddress(request),
    connection: connectionOf(request),
    header: (name) => readHeader(request, name),
  });
}

/** What serves a service; undefined when there is none of this name. */
function handlerOf(name: string, method: Method | undefined, options: RouterOptions): HttpHandler | undefined {
  const operation = Object.hasOwn(options.operations, name) ? options.operations[name] : undefined;
  if (!method && !operation) return undefined;
  const { adapt, adaptMethods }: typeof import("./adapter.ts") = load("./adapter.ts");
  if (!method) return adapt(operation!, options);
  const { methods } = method.descriptor.parent;
  return adaptMethods(
    methods.flatMap((each) => options.methods.get(`/${name}/${each.name}`) ?? []),
    options,
  );
}

function serviceOf(path: string): string {
  return path.slice(1, path.indexOf("/", 1));
}
