// Serves the streams of the API through connect-node.
import type { Message } from "@bufbuild/protobuf";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { streamEnded, toApiError } from "../../../aip/errors.ts";
import type { StreamMethod } from "../../../pipeline/method.ts";
import { callOf } from "../../http/call.ts";
import { headOfRequest, type RequestHead } from "../../http/head.ts";
import { cancel } from "../../http/http2-error-codes.ts";
import type { HttpRequest } from "../../http/message.ts";
import { toConnectError } from "../../unary/connect-error.ts";
import { nodeRequestKey } from "../adapter.ts";
import { transportOfContentType } from "../error-response.ts";
import { withEncodedItems } from "./encoded-items.ts";

/** The options of streams. */
export interface StreamOptions {
  /** How long a client may take nothing of a message, in milliseconds. */
  readonly streamStallMs: number;
  /** Aborted when the program starts to drain. */
  readonly draining: AbortSignal;
}

/** Adds the streams of one service. */
export function addStreams(router: ConnectRouter, methods: readonly StreamMethod[], options: StreamOptions): void {
  for (const method of methods)
    router.rpc(method.descriptor, (request: Message, context: HandlerContext) =>
      serve(method, request, context, options),
    );
}

async function* serve(
  method: StreamMethod,
  request: Message,
  context: HandlerContext,
  { streamStallMs, draining }: StreamOptions,
): AsyncGenerator<Message> {
  const nodeRequest = context.values.get(nodeRequestKey)!;
  const head = headOfRequest(nodeRequest);
  const call = callOf(head, transportOfContentType(head) ?? "connect", { signal: () => context.signal });
  context.responseHeader.set("x-request-id", call.requestId);
  const isJson = sendsJson(head);
  const messages = method.open(call, () => request);
  // connect-node waits for a client that has left while it was sent a message, and would never end the stream.
  context.signal.addEventListener("abort", () => void messages.return().catch(() => {}), { once: true });
  try {
    for await (const message of messages) {
      // connect-node asks for the next message once the client has taken this one.
      const stall = setTimeout(() => breakOff(nodeRequest), streamStallMs).unref();
      try {
        yield isJson ? message : withEncodedItems(method.descriptor.output, message);
      } finally {
        clearTimeout(stall);
      }
    }
  } catch (error) {
    throw toConnectError(toApiError(error));
  }
  if (draining.aborted) throw toConnectError(streamEnded("the server stops; call again"));
  // A stream that ends by its deadline fails: clients would take a normal end for one by the server.
  context.signal.throwIfAborted();
}

function sendsJson(head: RequestHead): boolean {
  return /\bjson\b/i.test(head.header("content-type") ?? "");
}

/** Ends the response to a client that does not read it. With another code, connect-node would write to the standard error. */
function breakOff(request: HttpRequest): void {
  if ("stream" in request) request.stream.close(cancel);
  else request.socket.destroy();
}
