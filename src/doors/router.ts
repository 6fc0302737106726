// The complete door: gRPC, gRPC-web and Connect by way of connect-node, for every method of the table.
import { randomUUID } from "node:crypto";
import type { Message, Registry } from "@bufbuild/protobuf";
import { type ConnectRouter, createContextKey, createContextValues, type HandlerContext } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import type { ApiError } from "../aip/errors.ts";
import { type Call, type DoorName, newCall } from "../pipeline/call.ts";
import type { Method, MethodTable } from "../pipeline/method.ts";
import { toConnectError } from "./connect-error.ts";
import type { HttpHandler } from "./dispatch.ts";
import type { HttpResponse } from "./http-message.ts";

export interface RouterOptions {
  readonly methods: MethodTable;
  /** Adds services that are not in the table: those with streams. */
  readonly operations: (router: ConnectRouter) => void;
  /** Takes whatever is no RPC. */
  readonly fallback: HttpHandler;
  readonly maxBodyBytes: number;
  readonly maxTimeoutMs: number;
  /** The types that stand in the details of errors. */
  readonly detailTypes: Registry;
  /** Aborted when the program begins to stop. */
  readonly draining: AbortSignal;
}

const peerKey = createContextKey("", { description: "address of the peer" });

/** Makes the request listener of both HTTP versions. */
export function createRouter(options: RouterOptions): HttpHandler {
  return connectNodeAdapter({
    routes(router) {
      for (const method of options.methods.values()) router.rpc(method.descriptor, unary(method));
      options.operations(router);
    },
    fallback: (request, response) => void options.fallback(request, response as HttpResponse),
    contextValues: (request) => createContextValues().set(peerKey, request.socket.remoteAddress ?? ""),
    readMaxBytes: options.maxBodyBytes,
    maxTimeoutMs: options.maxTimeoutMs,
    shutdownSignal: options.draining,
    jsonOptions: { registry: options.detailTypes },
  });
}

function unary(method: Method) {
  return async (request: Message, context: HandlerContext): Promise<Message> => {
    const call = callOf(context);
    try {
      return await method.invoke(call, request);
    } catch (error) {
      throw toConnectError(error as ApiError);
    } finally {
      for (const [name, value] of call.replyHeaders) context.responseHeader.set(name, value);
      context.responseHeader.set("x-request-id", call.requestId);
    }
  };
}

function callOf(context: HandlerContext): Call {
  return newCall({
    door: context.protocolName as DoorName,
    requestId: randomUUID(),
    peer: context.values.get(peerKey),
    header: (name) => context.requestHeader.get(name) ?? undefined,
    signal: () => context.signal,
  });
}
