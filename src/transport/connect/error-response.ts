// Error responses to calls that neither the unary transport nor connect-node gets.
import type { Registry } from "@bufbuild/protobuf";
import type { ApiError } from "../../aip/errors.ts";
import type { Call, TransportName } from "../../pipeline/call.ts";
import { completeError } from "../../pipeline/complete-error.ts";
import type { MessageExchange } from "../http/exchange.ts";
import type { RequestHead } from "../http/head.ts";
import { isHttp2 } from "../http/message.ts";
import type { OutgoingResponse } from "../http/response.ts";
import { respondOnStream } from "../http/stream-exchange.ts";
import { proto } from "../unary/codec.ts";
import { connect, endOfStream } from "../unary/connect-protocol.ts";
import { grpc } from "../unary/grpc.ts";
import { grpcWeb } from "../unary/grpc-web.ts";
import type { Protocol } from "../unary/protocol.ts";

/** The dependencies of rejecting a call. */
export interface RejectionOptions {
  readonly detailTypes: Registry;
  /** The domain of ErrorInfo if no service is called. */
  readonly errorDomain: string;
}

/** Responds to a call with an error, in its protocol. */
export type CallRejection = (exchange: MessageExchange, call: Call, error: ApiError) => void;

/** Returns the transport of a unary call by its content type; undefined for streams and other requests. */
export function transportOfContentType(head: RequestHead): Exclude<TransportName, "rest"> | undefined {
  const type = head.header("content-type") ?? "";
  if (/^application\/grpc-web\b/i.test(type)) return "grpc-web";
  if (/^application\/grpc\b/i.test(type)) return "grpc";
  return /^application\/(?:proto|json)\s*(?:;|$)/i.test(type) ? "connect" : undefined;
}

/** Whether a call is a stream of the Connect protocol. */
export function isConnectStream(head: RequestHead): boolean {
  return connectStream.test(head.header("content-type") ?? "");
}

const connectStream = /^application\/connect\+(?:proto|json)\b/i;

/** Makes the function that rejects calls. */
export function newCallRejection(options: RejectionOptions): CallRejection {
  const inConnect = connect(proto, { registry: options.detailTypes });
  const protocols: Readonly<Record<string, Protocol>> = { grpc: grpc(proto), "grpc-web": grpcWeb(proto) };
  return (exchange, call, error) => {
    const protocol = protocols[call.transport] ?? inConnect;
    const failure = inTypeOf(exchange.head, protocol.failure(completeError(error, options.errorDomain), call));
    const { response } = exchange;
    if (isHttp2(response)) respondOnStream(response.stream, failure, call);
    else {
      const { status, body = "" } = failure;
      // "Trailers-Only" of gRPC: without a message the status is in the headers, as over HTTP/2.
      const headers = { ...failure.headers, ...failure.trailers };
      exchange.respond({ status, headers, body }, call);
    }
  };
}

/** gRPC clients accept a response only in the encoding of their messages, even without a message. */
function inTypeOf(head: RequestHead, response: OutgoingResponse): OutgoingResponse {
  const sent = (head.header("content-type") ?? "").toLowerCase();
  if (connectStream.test(sent))
    return { status: 200, headers: { "content-type": sent }, body: endOfStream(response.body) };
  const [type] = /^application\/grpc(?:-web)?\+json\b/.exec(sent) ?? [];
  return type ? { ...response, headers: { ...response.headers, "content-type": type } } : response;
}
