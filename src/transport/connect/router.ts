// Health and reflection, through connect-node, and calls of unknown methods.

import type { ConnectRouter } from "@connectrpc/connect";
import { toApiError, unimplemented } from "../../aip/errors.ts";
import { onceLoaded } from "../../base/lazy.ts";
import type { TransportName } from "../../pipeline/call.ts";
import { isMethodPath } from "../../pipeline/lazy-methods.ts";
import { callOf } from "../http/call.ts";
import type { ExchangeHandler, MessageExchange } from "../http/exchange.ts";
import type { RequestHead } from "../http/head.ts";
import { checkAnnouncedLength, maxOperationBytes } from "../http/message-size.ts";
import { reject } from "../http/rejection.ts";
import { prefixLength } from "../unary/envelope.ts";
import type { AdapterOptions } from "./adapter.ts";
import { type CallRejection, isConnectStream, newCallRejection, transportOfContentType } from "./error-response.ts";

/** The services to serve, and the limits of calls. */
export interface RouterOptions extends AdapterOptions {
  /** Services with streams, by name. */
  readonly operations: Readonly<Record<string, Operation>>;
}

/** Loads a service on first use. Resolves to the function that registers it. */
export type Operation = () => Promise<(router: ConnectRouter) => void>;

/** The options, and what is made of them once. */
interface Router extends RouterOptions {
  readonly rejectCall: CallRejection;
  /** The handlers of `operations`, made on first use. */
  readonly operationHandlers: ReadonlyMap<string, () => Promise<ExchangeHandler>>;
}

/** Makes the handler of these services, which rejects calls of unknown methods. Other requests go to `fallback`. */
export function newRouter(options: RouterOptions): ExchangeHandler {
  const router = composeRouter(options);
  return (exchange) => {
    const { head, response } = exchange;
    const { path } = head;
    if (!isMethodPath(path)) return router.fallback(exchange);
    const operation = router.operationHandlers.get(serviceOf(path));
    if (!operation) return router.fallback(exchange);
    // gRPC sends the status in trailers, which HTTP/1.0 lacks: an error would look like an empty response.
    if (exchange.request.httpVersion === "1.0" && transportOf(head) === "grpc") return reject(response, 505);
    // RFC 9110 §15.5.6: a 405 names what is allowed.
    if (head.method !== "POST") response.setHeader("allow", "POST");
    return serveOperation(operation, exchange, router);
  };
}

function composeRouter(options: RouterOptions): Router {
  const rejectCall = newCallRejection(options);
  const composed: AdapterOptions = {
    ...options,
    // A method that connect-node does not find in a known service is as unknown as one in an unknown service.
    fallback: (exchange) => rejectUnknown(exchange, rejectCall, options.fallback),
  };
  const operations = Object.entries(options.operations).map(
    ([service, load]) => [service, onceLoaded(() => loadOperation(load, composed))] as const,
  );
  return { ...options, ...composed, rejectCall, operationHandlers: new Map(operations) };
}

/** connect-node takes a tenth of a start to load: the first request that needs it waits. */
async function loadOperation(load: Operation, options: AdapterOptions): Promise<ExchangeHandler> {
  const { adapt } = await import("./adapter.ts");
  return adapt(await load(), options);
}

/** Passes a call to connect-node, unless its announced message is too long. */
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
    checkAnnouncedLength((name) => head.header(name), router.maxOperationBytes ?? maxOperationBytes, {
      prefixBytes: isStream || transport !== "connect" ? prefixLength : 0,
      isCompressed: isCompressed(head, transport),
    });
  } catch (error) {
    return router.rejectCall(exchange, call, toApiError(error));
  }
  return handler(exchange);
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

function isCompressed(head: RequestHead, transport: TransportName): boolean {
  const encoding = head.header(transport === "connect" ? "content-encoding" : "grpc-encoding");
  return (encoding ?? "identity") !== "identity";
}

/** The transport of a unary call; undefined for any other request. */
function transportOf(head: RequestHead): ReturnType<typeof transportOfContentType> {
  return head.method === "POST" ? transportOfContentType(head) : undefined;
}

function serviceOf(path: string): string {
  return path.slice(1, path.indexOf("/", 1));
}
