// The Connect protocol: a plain POST whose body is the message, and errors as JSON with an HTTP status.
import type { JsonWriteOptions } from "@bufbuild/protobuf";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { type ApiError, retryAfterOf, toApiError } from "../../aip/errors.ts";
import { type ChallengedCall, challengeOf } from "../http/challenge.ts";
import type { OutgoingResponse, ResponseHeaders } from "../http/response.ts";
import type { Codec } from "./codec.ts";
import { type Compression, compressLong } from "./compression.ts";
import { toConnectError } from "./connect-error.ts";
import { openEnvelope, prefixLength, wrap } from "./envelope.ts";
import type { Protocol, StreamProtocol } from "./protocol.ts";
import { connectTimeout } from "./timeout.ts";

/** Makes the unary Connect protocol with messages in a codec. `registry` has the messages of error details. */
export function connect(codec: Codec, { registry }: Required<Pick<JsonWriteOptions, "registry">>): Protocol {
  const contentType = `application/${codec.name}`;
  const headers = { "content-type": contentType };
  return {
    transport: "connect",
    contentTypes: [contentType],
    codec,
    encodingHeader: "content-encoding",
    acceptHeader: "accept-encoding",
    prefixBytes: 0,
    timeoutOf: connectTimeout,
    open: (body, _maxBytes, isEncoded) => ({ bytes: body, isCompressed: isEncoded }),
    success(method, message, compression) {
      const body = codec.encode(method, message);
      return compression ? compressed(body, headers, compression) : { status: 200, headers, body };
    },
    failure: (thrown, call) => failureReply(toApiError(thrown), call, { registry }),
  };
}

/** Makes the Connect protocol with streams of messages in a codec: requests are in an envelope, and the last one of a response has its end. */
export function connectStream(codec: Codec, options: Required<Pick<JsonWriteOptions, "registry">>): StreamProtocol {
  const contentType = `application/connect+${codec.name}`;
  return {
    transport: "connect",
    contentTypes: [contentType],
    codec,
    encodingHeader: "connect-content-encoding",
    acceptHeader: "connect-accept-encoding",
    prefixBytes: prefixLength,
    timeoutOf: connectTimeout,
    open: openEnvelope,
    headers: { "content-type": contentType },
    end: (error) => ({ last: endOfStream(error && errorToJsonBytes(toConnectError(error), options)) }),
  };
}

/** The flag of the last message of a Connect stream. */
const endOfStreamFlag = 2;

/** Returns the last message of a Connect stream, with the JSON of the error of a call that failed. */
export function endOfStream(error: string | Uint8Array | undefined): Buffer {
  return wrap(endOfStreamFlag, Buffer.from(error === undefined ? "{}" : `{"error":${Buffer.from(error as string)}}`));
}

async function compressed(
  message: string | Uint8Array,
  headers: ResponseHeaders,
  compression: Compression,
): Promise<OutgoingResponse> {
  const { bytes, isCompressed } = await compressLong(message, compression);
  return {
    status: 200,
    headers: isCompressed ? { ...headers, "content-encoding": compression.name } : headers,
    body: bytes,
  };
}

const errorHeaders = { "content-type": "application/json" };

function failureReply(error: ApiError, call: ChallengedCall, options: Partial<JsonWriteOptions>): OutgoingResponse {
  return {
    status: codeToHttpStatus(error.code as number),
    headers: headersOf(error, call),
    body: errorToJsonBytes(toConnectError(error), options),
  };
}

function headersOf(error: ApiError, call: ChallengedCall): Readonly<Record<string, string>> {
  const challenge = challengeOf(error, call);
  if (challenge !== undefined) return { ...errorHeaders, "www-authenticate": challenge };
  const retryAfter = retryAfterOf(error);
  return retryAfter === undefined ? errorHeaders : { ...errorHeaders, "retry-after": retryAfter };
}
