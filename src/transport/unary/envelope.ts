// The envelope of gRPC and gRPC-web messages: a byte of flags, four bytes of length, the message.

import { fromBinary, type Message } from "@bufbuild/protobuf";
import { ApiError, Code, unimplemented } from "../../aip/errors.ts";
import type { Method } from "../../pipeline/method.ts";
import { maxValues, messageTooLarge } from "../http/message-size.ts";
import { writeBinary } from "./protobuf-encoder.ts";
import { holdsMoreValues } from "./value-count.ts";

/** Bytes in front of a message. */
export const prefixLength = 5;

/** The only flag that the envelope of a request may have (gRPC over HTTP/2, "Requests"). */
export const compressedFlag = 1;

/** Reads the only message of a body. Throws with the codes that connect-node uses for the same faults. */
export function readEnvelope(method: Method, body: Buffer, maxBytes: number): Message {
  const { flags, bytes } = openEnvelope(body, maxBytes);
  if (flags !== 0) throw compressionUnnamed();
  return readMessage(method, bytes);
}

/** The error for a compressed message without an encoding (gRPC's compression.md). */
export function compressionUnnamed(): ApiError {
  return new ApiError(Code.INTERNAL, "protocol error: the message is compressed, but no encoding is named");
}

/** Opens the only envelope of a body. Throws INTERNAL, as gRPC servers do, for unknown flags. */
export function openEnvelope(body: Buffer, maxBytes: number): { readonly flags: number; readonly bytes: Buffer } {
  if (body.length === 0) throw unimplemented("protocol error: missing input message for unary method");
  const end = endOfMessage(body, 0, maxBytes);
  if (body.length > end) {
    endOfMessage(body, end, maxBytes);
    throw unimplemented("protocol error: received extra input message for unary method");
  }
  const flags = body.readUInt8(0);
  if (flags > compressedFlag) throw new ApiError(Code.INTERNAL, `protocol error: the flags of a message are ${flags}`);
  return { flags, bytes: body.subarray(prefixLength, end) };
}

/** Decodes a request. Throws INVALID_ARGUMENT if it is malformed, or has more than 200,000 values. */
export function readMessage({ descriptor }: Method, bytes: Uint8Array): Message {
  const { input } = descriptor;
  try {
    if (!holdsMoreValues(input, bytes, maxValues)) return fromBinary(input, bytes);
  } catch (error) {
    throw new ApiError(Code.INVALID_ARGUMENT, `cannot parse ${input.typeName}`, { cause: error });
  }
  throw new ApiError(Code.INVALID_ARGUMENT, `${input.typeName} must not hold more than ${maxValues} values`);
}

/** Encodes a response in an envelope. `after` follows it, in an envelope of its own. */
export function writeEnvelope({ descriptor }: Method, message: Message, after?: Uint8Array): Buffer {
  const framed = writeBinary(descriptor.output, message, prefixLength, after);
  return fillPrefix(framed, 0, framed.length - (after?.length ?? 0));
}

/** Wraps bytes in an envelope. */
export function wrap(flags: number, bytes: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(prefixLength + bytes.length);
  framed.set(bytes, prefixLength);
  return fillPrefix(framed, flags, framed.length);
}

/** Writes flags and length in front of a message that ends at `end`. */
function fillPrefix(framed: Buffer, flags: number, end: number): Buffer {
  framed[0] = flags;
  framed.writeUInt32BE(end - prefixLength, 1);
  return framed;
}

function endOfMessage(body: Buffer, start: number, maxBytes: number): number {
  if (body.length < start + prefixLength) throw incomplete();
  const length = body.readUInt32BE(start + 1);
  if (length > maxBytes) throw messageTooLarge(maxBytes);
  const end = start + prefixLength + length;
  if (body.length < end) throw incomplete();
  return end;
}

function incomplete(): ApiError {
  return new ApiError(Code.INVALID_ARGUMENT, "protocol error: incomplete envelope");
}
