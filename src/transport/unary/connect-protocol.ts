// The Connect protocol: a plain POST whose body is the message, and errors as JSON with an HTTP status.
import { fromJson, type JsonValue, type JsonWriteOptions, type Message, toJson } from "@bufbuild/protobuf";
import { ApiError, Code, toApiError } from "../../aip/errors.ts";
import type { Method } from "../../pipeline/method.ts";
import { parseJsonText } from "../json/parse-json.ts";
import { newTextWriters } from "../json/serializer.ts";
import { failureReply } from "./connect-error-response.ts";
import { readMessage } from "./envelope.ts";
import { writeBinary } from "./protobuf-encoder.ts";
import type { HeaderOf, Protocol } from "./protocol.ts";

type Codec = Pick<Protocol, "parse"> & {
  readonly contentType: string;
  write(method: Method, message: Message): string | Uint8Array;
};

const proto: Codec = {
  contentType: "application/proto",
  parse: readMessage,
  write: ({ descriptor }, message) => writeBinary(descriptor.output, message),
};

function json({ maxDepth, ...options }: ConnectOptions): Codec {
  const writer = newTextWriters((schema, message) => toJson(schema, message, options));
  return {
    contentType: "application/json",
    parse: (method, body) => readJson(method, parseJsonText(body, maxDepth), options),
    write: ({ descriptor }, message) => writer(descriptor.output)(message),
  };
}

/** `registry` has the messages that an Any may contain; `maxDepth` limits the nesting of arrays and objects. */
export interface ConnectOptions extends Pick<JsonWriteOptions, "registry"> {
  readonly maxDepth: number;
}

/** Makes the unary Connect protocol, with messages in protobuf and in JSON. */
export function connect(options: ConnectOptions): { readonly proto: Protocol; readonly json: Protocol } {
  return { proto: newProtocol(proto, options), json: newProtocol(json(options), options) };
}

function newProtocol({ contentType, parse, write }: Codec, options: Partial<JsonWriteOptions>): Protocol {
  const headers = { "content-type": contentType };
  return {
    transport: "connect",
    encodingHeader: "content-encoding",
    prefixBytes: 0,
    timeoutOf: connectTimeout,
    parse,
    success: (method, message) => ({ status: 200, headers, body: write(method, message) }),
    failure: (thrown, call) => failureReply(toApiError(thrown), call, options),
  };
}

/** Returns the deadline of a Connect request: see `Protocol.timeoutOf`. */
export function connectTimeout(header: HeaderOf): number | undefined {
  const text = header("connect-timeout-ms");
  if (text === undefined) return 0;
  // connect-node responds to one that has passed.
  return /^\d{1,10}$/.test(text) && Number(text) > 0 ? Number(text) : undefined;
}

function readJson({ descriptor }: Method, json: JsonValue, options: Partial<JsonWriteOptions>): Message {
  try {
    // As connect-node does: newer clients may send unknown fields.
    return fromJson(descriptor.input, json, { ...options, ignoreUnknownFields: true });
  } catch (error) {
    throw new ApiError(Code.INVALID_ARGUMENT, error instanceof Error ? error.message : String(error), { cause: error });
  }
}
