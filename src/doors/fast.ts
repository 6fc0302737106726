// The short way for unary gRPC: straight from the HTTP/2 stream to the method and back. What it does not recognise by the
// headers it leaves alone, and connect-node serves it: streams, compression, JSON, odd encodings, requests out of order.
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { create, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { StatusSchema } from "../../gen/google/rpc/status_pb.ts";
import { ApiError, Code, resourceExhausted, unimplemented } from "../aip/errors.ts";
import { type Call, newCall } from "../pipeline/call.ts";
import type { Method, MethodTable } from "../pipeline/method.ts";

/** Takes a stream and answers it, or leaves it untouched and says no. */
export type StreamHandler = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
) => boolean;

export interface FastOptions {
  readonly methods: MethodTable;
  readonly maxBodyBytes: number;
  /** A body in more pieces than this is an attack on memory rather than a message. */
  readonly maxChunks: number;
  readonly maxTimeoutMs: number;
}

const contentTypes: ReadonlySet<string | undefined> = new Set(["application/grpc", "application/grpc+proto"]);
const prefixLength = 5;

/** Makes the handler of unary gRPC streams. */
export function createFastPath(options: FastOptions): StreamHandler {
  return (stream, headers, rawHeaders) => {
    const method = options.methods.get(headers[":path"] ?? "");
    if (!method || !isPlain(headers) || isRepeated(rawHeaders, "authorization")) return false;
    const timeoutMs = parseTimeout(headers["grpc-timeout"]);
    if (timeoutMs === undefined || timeoutMs > options.maxTimeoutMs) return false;
    const call = newCall({
      door: "grpc",
      requestId: randomUUID(),
      peer: stream.session?.socket?.remoteAddress ?? "",
      header: (name) => headers[name]?.toString(),
    });
    const reply = onceReplier(stream, call);
    if (timeoutMs > 0) expireAfter(timeoutMs, stream, reply);
    receive(
      stream,
      options,
      (body) => void serve(method, call, () => parseMessage(method, body, options.maxBodyBytes), reply),
    );
    return true;
  };
}

/** Whether nothing about the request needs more than one message in, one out. */
function isPlain(headers: IncomingHttpHeaders): boolean {
  const encoding = headers["grpc-encoding"];
  return (
    headers[":method"] === "POST" &&
    contentTypes.has(headers["content-type"]) &&
    (encoding === undefined || encoding === "identity") &&
    headers.expect === undefined
  );
}

/** Node keeps the first of several Authorization headers; a request with two must not pass for one with the first. */
function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let seen = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i] === name) seen++;
  return seen > 1;
}

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 };

/** The gRPC deadline in milliseconds: 0 without one, undefined when the header is malformed. */
function parseTimeout(header: string | string[] | undefined): number | undefined {
  if (header === undefined) return 0;
  const match = /^(\d{1,8})([HMSmun])$/.exec(header.toString());
  return match ? Math.max(1, Number(match[1]) * unitMs[match[2]!]!) : undefined;
}

type Replier = (headers: OutgoingHttpHeaders, body: Buffer | undefined) => void;

/** Sends the first reply and drops any later one: the deadline and the method race. */
function onceReplier(stream: ServerHttp2Stream, call: Call): Replier {
  let replied = false;
  return (trailers, body) => {
    if (replied || stream.destroyed || stream.closed) return;
    replied = true;
    const head: OutgoingHttpHeaders = {
      ":status": 200,
      "content-type": "application/grpc+proto",
      "x-request-id": call.requestId,
    };
    for (const [name, value] of call.replyHeaders) head[name] = value;
    if (!body) {
      stream.respond({ ...head, ...trailers }, { endStream: true });
      return;
    }
    stream.respond(head, { waitForTrailers: true });
    stream.once("wantTrailers", () => stream.sendTrailers(trailers));
    stream.end(body);
  };
}

function expireAfter(timeoutMs: number, stream: ServerHttp2Stream, reply: Replier): void {
  const timer = setTimeout(
    () => reply(failureTrailers(new ApiError(Code.DEADLINE_EXCEEDED, "the deadline has passed")), undefined),
    timeoutMs,
  );
  stream.once("close", () => clearTimeout(timer));
}

/** Collects the body; one that is too large or too finely cut ends in an error rather than in memory. */
function receive(
  stream: ServerHttp2Stream,
  { maxBodyBytes, maxChunks }: FastOptions,
  done: (body: Buffer | ApiError) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  let over: ApiError | undefined;
  stream.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (over) return;
    if (size > maxBodyBytes + prefixLength || chunks.length >= maxChunks) {
      over = resourceExhausted(`the message is larger than ${maxBodyBytes} bytes`);
      chunks.length = 0;
      done(over);
    } else {
      chunks.push(chunk);
    }
  });
  stream.on("end", () => {
    if (!over) done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
  });
}

async function serve(method: Method, call: Call, parse: () => Message, reply: Replier): Promise<void> {
  try {
    const message = await method.invoke(call, parse());
    reply({ "grpc-status": "0" }, frame(toBinary(method.descriptor.output, message)));
  } catch (error) {
    reply(failureTrailers(error), undefined);
  }
}

/** The one message of a body. The codes are those of connect-node, which answers the same mistakes on its own way. */
function parseMessage(method: Method, body: Buffer | ApiError, maxBodyBytes: number): Message {
  if (body instanceof ApiError) throw body;
  if (body.length === 0) throw unimplemented("protocol error: missing input message for unary method");
  const end = endOfMessage(body, 0, maxBodyBytes);
  if (body[0] !== 0)
    throw new ApiError(Code.INTERNAL, "protocol error: the message is compressed, but no encoding is named");
  if (body.length > end) {
    endOfMessage(body, end, maxBodyBytes);
    throw unimplemented("protocol error: received extra input message for unary method");
  }
  try {
    return fromBinary(method.descriptor.input, body.subarray(prefixLength, end));
  } catch (error) {
    throw new ApiError(Code.INVALID_ARGUMENT, `cannot parse ${method.descriptor.input.typeName}`, { cause: error });
  }
}

function endOfMessage(body: Buffer, start: number, maxBodyBytes: number): number {
  if (body.length < start + prefixLength) throw incomplete();
  const length = body.readUInt32BE(start + 1);
  if (length > maxBodyBytes) throw resourceExhausted(`the message is larger than ${maxBodyBytes} bytes`);
  const end = start + prefixLength + length;
  if (body.length < end) throw incomplete();
  return end;
}

function incomplete(): ApiError {
  return new ApiError(Code.INVALID_ARGUMENT, "protocol error: incomplete envelope");
}

function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(prefixLength + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, prefixLength);
  return framed;
}

function failureTrailers(error: unknown): OutgoingHttpHeaders {
  const failure = error instanceof ApiError ? error : new ApiError(Code.INTERNAL, "Internal error", { cause: error });
  const { code, message } = failure;
  const trailers: OutgoingHttpHeaders = { "grpc-status": String(code), "grpc-message": percentEncode(message) };
  if (failure.details.length > 0) {
    const details = failure.details.map(({ schema, value }) => anyPack(schema, value));
    const status = toBinary(StatusSchema, create(StatusSchema, { code, message, details }));
    trailers["grpc-status-details-bin"] = Buffer.from(status).toString("base64").replace(/=+$/, "");
  }
  return trailers;
}

/** gRPC over HTTP/2, "Responses": only `%` and what is not printable ASCII is escaped; clients decode no more than that. */
function percentEncode(message: string): string {
  return message.replace(/[^\x20-\x24\x26-\x7e]+/gu, (part) => {
    return Buffer.from(part).reduce((text, byte) => `${text}%${byte.toString(16).toUpperCase().padStart(2, "0")}`, "");
  });
}
