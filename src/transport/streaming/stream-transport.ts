// The streaming transport: serves the methods whose response is a stream over gRPC, gRPC-web and Connect.
import { type Message, type Registry, toBinary } from "@bufbuild/protobuf";
import { streamEnded, toApiError } from "../../aip/errors.ts";
import { deadlineExceeded } from "../../pipeline/call-lifetime.ts";
import { completeError } from "../../pipeline/complete-error.ts";
import type { StreamMethod } from "../../pipeline/method.ts";
import { callOf } from "../http/call.ts";
import { Deadline } from "../http/deadline.ts";
import type { MessageExchange } from "../http/exchange.ts";
import { markLongLived } from "../http/long-lived-stream.ts";
import { isHttp2 } from "../http/message.ts";
import { reject } from "../http/rejection.ts";
import { RequestLifetime } from "../http/request-lifetime.ts";
import { callHeaders } from "../http/response.ts";
import { beginStream, sendStream } from "../http/send-stream.ts";
import { json, proto } from "../unary/codec.ts";
import { connectStream } from "../unary/connect-protocol.ts";
import { receiveBody } from "../unary/decode-request.ts";
import { wrap } from "../unary/envelope.ts";
import { grpcStream } from "../unary/grpc.ts";
import { grpcWebStream } from "../unary/grpc-web.ts";
import type { StreamProtocol } from "../unary/protocol.ts";
import { type FormLimits, type RequestForm, requestForms } from "../unary/request-form.ts";
import { withEncodedItems } from "./encoded-items.ts";

/** The dependencies and limits of the streaming transport. */
export interface StreamingOptions extends FormLimits {
  readonly methods: readonly StreamMethod[];
  /** The longest deadline; a later one is shortened to it. A stream without one has no end. */
  readonly maxTimeoutMs: number;
  /** How long a client may take nothing of a stream, in milliseconds. */
  readonly streamStallMs: number;
  /** The deepest nesting of arrays and objects in JSON. */
  readonly maxJsonDepth: number;
  /** The message types of error details. */
  readonly detailTypes: Registry;
  /** Aborted when the program starts to drain: all streams end. */
  readonly draining: AbortSignal;
}

/** Takes a request of a stream and returns true, or leaves it untouched and returns false. */
export type StreamingTransport = (exchange: MessageExchange) => boolean;

/** Makes the streaming transport. */
export function newStreamingTransport(options: StreamingOptions): StreamingTransport {
  const methods = new Map(options.methods.map((method) => [method.path, method]));
  const forms = requestForms(protocolsOf(options), options);
  const open = new Set<RequestLifetime>();
  options.draining.addEventListener("abort", () => open.forEach(endByStop));

  function serve(method: StreamMethod, exchange: MessageExchange): void {
    const { head, response } = exchange;
    const form = forms.of(head.headers);
    // RFC 9110 §15.5.6, §15.5.16: a rejection names what is allowed or accepted.
    if (head.method !== "POST") exchange.respond({ status: 405, headers: { allow: "POST" } });
    else if (!form) exchange.respond({ status: 415, headers: { "accept-post": forms.contentTypes } });
    // The status of gRPC is in trailers, which clients of HTTP/1 do not read: an error would look like an end.
    else if (form.protocol.transport === "grpc" && !isHttp2(response))
      reject(response, 505, "gRPC needs HTTP/2; gRPC-web and Connect do not\n");
    else void run(method, form, exchange, open, options);
  }

  return (exchange) => {
    const method = methods.get(exchange.head.path);
    if (method) serve(method, exchange);
    return method !== undefined;
  };
}

function protocolsOf({ detailTypes: registry, maxJsonDepth: maxDepth }: StreamingOptions): StreamProtocol[] {
  const codecs = [proto, json({ registry, maxDepth })];
  return codecs.flatMap((codec) => [grpcStream(codec), grpcWebStream(codec), connectStream(codec, { registry })]);
}

/** Serves one call. */
async function run(
  method: StreamMethod,
  form: RequestForm<StreamProtocol>,
  exchange: MessageExchange,
  open: Set<RequestLifetime>,
  options: StreamingOptions,
): Promise<void> {
  const { protocol } = form;
  const lifetime = new RequestLifetime(exchange.response);
  const call = callOf(exchange.head, protocol.transport, { lifetime, signal: () => lifetime.signal });
  const deadline = deadlineOf(form, lifetime, options);
  open.add(lifetime);
  if (options.draining.aborted) endByStop(lifetime);
  markLongLived(exchange.request);
  const messages = method.open(call, () => receiveBody(method, form, call, exchange));
  const parts = envelopesOf(messages, method, { protocol, lifetime, exchange });
  try {
    const stream = await beginStream({ parts, close: () => void messages.return() });
    await sendStream(exchange.response, { status: 200, headers: protocol.headers, stream }, callHeaders(call), options);
  } catch {
    // The client has left, or takes nothing. An incomplete response must not stay open.
    exchange.abort();
  } finally {
    open.delete(lifetime);
    deadline?.meet();
  }
}

function endByStop(lifetime: RequestLifetime): void {
  lifetime.end(streamEnded("the server stops; call again"));
}

/** Starts the deadline of a call, if it has one. */
function deadlineOf({ timeout }: RequestForm, lifetime: RequestLifetime, { maxTimeoutMs }: StreamingOptions) {
  if (typeof timeout !== "number" || timeout === 0) return undefined;
  return new Deadline(Math.min(timeout, maxTimeoutMs), () => lifetime.end(deadlineExceeded()));
}

/** A call that is served. */
interface Served {
  readonly protocol: StreamProtocol;
  readonly lifetime: RequestLifetime;
  readonly exchange: MessageExchange;
}

/** Yields the messages, and what ends the stream. */
async function* envelopesOf(
  messages: AsyncGenerator<Message, void>,
  method: StreamMethod,
  { protocol, lifetime, exchange }: Served,
): AsyncGenerator<Buffer> {
  let failure: unknown;
  try {
    for await (const message of messages) yield wrap(0, encode(method, protocol, message));
    // A stream that ends by its deadline fails: clients would take a normal end for one by the server.
    failure = lifetime.ended;
  } catch (error) {
    failure = error;
  }
  const error = failure === undefined ? undefined : completeError(toApiError(failure), method.errorDomain);
  const { last, trailers } = protocol.end(error);
  if (last) yield last;
  // Node sends them with the end of the response.
  if (trailers && isHttp2(exchange.response)) exchange.response.addTrailers(trailers);
}

/** The same messages go to many streams: their items are encoded once. */
function encode({ descriptor }: StreamMethod, { codec }: StreamProtocol, message: Message): Uint8Array {
  if (codec.name === "proto") return toBinary(descriptor.output, withEncodedItems(descriptor.output, message));
  return Buffer.from(codec.encode({ descriptor }, message) as string);
}
