// Answers to calls that connect-node does not get to see.
import type { Registry } from "@bufbuild/protobuf";
import type { ApiError } from "../../aip/errors.ts";
import type { Call, TransportName } from "../../pipeline/call.ts";
import { completeError } from "../../pipeline/complete-error.ts";
import { type HttpRequest, type HttpResponse, isHttp2, readHeader } from "../http/message.ts";
import { callHeaders, sendReply } from "../http/response.ts";
import { connect } from "../unary/connect-protocol.ts";
import { wrap } from "../unary/envelope.ts";
import { respond } from "../unary/exchange.ts";
import { grpc } from "../unary/grpc.ts";
import { grpcWeb } from "../unary/grpc-web.ts";
import type { Answer, Protocol } from "../unary/protocol.ts";

/** What refusing a call needs. */
export interface RejectionOptions {
  readonly detailTypes: Registry;
  readonly maxJsonDepth: number;
  /** The domain of the ErrorInfo where no service is called. */
  readonly errorDomain: string;
}

/** Answers a call with an error, in the words of its protocol. */
export type CallRejection = (request: HttpRequest, response: HttpResponse, call: Call, error: ApiError) => void;

/** The transport of a unary call by its content type; undefined for what is none, or has several messages. */
export function transportOfContentType(request: HttpRequest): Exclude<TransportName, "rest"> | undefined {
  const type = readHeader(request, "content-type") ?? "";
  if (/^application\/grpc-web\b/i.test(type)) return "grpc-web";
  if (/^application\/grpc\b/i.test(type)) return "grpc";
  return /^application\/(?:proto|json)\s*(?:;|$)/i.test(type) ? "connect" : undefined;
}

/** Whether a call has streams of Connect. */
export function isConnectStream(request: HttpRequest): boolean {
  return connectStream.test(readHeader(request, "content-type") ?? "");
}

const connectStream = /^application\/connect\+(?:proto|json)\b/i;

/** Makes the function that refuses. */
export function newCallRejection(options: RejectionOptions): CallRejection {
  const { proto } = connect({ registry: options.detailTypes, maxDepth: options.maxJsonDepth });
  const protocols: Readonly<Record<string, Protocol>> = { grpc, "grpc-web": grpcWeb, connect: proto };
  return (request, response, call, error) => {
    const answer = inTypeOf(
      request,
      (protocols[call.transport] ?? proto).failure(completeError(error, options.errorDomain)),
    );
    if (isHttp2(response)) respond(response.stream, answer, call);
    else {
      const { status, body = "" } = answer;
      // What gRPC says without a message stands in the headers, as it does over HTTP/2: "Trailers-Only".
      const headers = { ...answer.headers, ...answer.trailers };
      sendReply(request, response, { status, headers, body }, callHeaders(call));
    }
  };
}

/** Clients of gRPC take an answer in the encoding of their messages only, also where it has none. */
function inTypeOf(request: HttpRequest, answer: Answer): Answer {
  const sent = (readHeader(request, "content-type") ?? "").toLowerCase();
  if (connectStream.test(sent)) return inEndOfStream(sent, answer);
  const [type] = /^application\/grpc(?:-web)?\+json\b/.exec(sent) ?? [];
  return type ? { ...answer, headers: { ...answer.headers, "content-type": type } } : answer;
}

/** The flag of the last message of a stream of Connect, which has the error of the call. */
const endOfStreamFlag = 2;

function inEndOfStream(type: string, { body = "" }: Answer): Answer {
  const error = typeof body === "string" ? body : Buffer.from(body).toString();
  return {
    status: 200,
    headers: { "content-type": type },
    body: wrap(endOfStreamFlag, Buffer.from(`{"error":${error}}`)),
  };
}
