// The envelope of gRPC and gRPC-web messages: a byte of flags, four bytes of length, the message.
import { fromBinary, type Message } from "@bufbuild/protobuf";
import { ApiError, Code, resourceExhausted, unimplemented } from "../../aip/errors.ts";
import type { Method } from "../../pipeline/method.ts";

/** The length of what stands before a message. */
export const prefixLength = 5;

/** Reads the one message of a body. The codes are those of connect-node, which answers the same mistakes on its own way. */
export function readEnvelope(method: Method, body: Buffer, maxBytes: number): Message {
  if (body.length === 0) throw unimplemented("protocol error: missing input message for unary method");
  const end = endOfMessage(body, 0, maxBytes);
  if (body[0] !== 0)
    throw new ApiError(Code.INTERNAL, "protocol error: the message is compressed, but no encoding is named");
  if (body.length > end) {
    endOfMessage(body, end, maxBytes);
    throw unimplemented("protocol error: received extra input message for unary method");
  }
  return readMessage(method, body.subarray(prefixLength, end));
}

/** Reads a message; throws INVALID_ARGUMENT when the bytes are none. */
export function readMessage({ descriptor }: Method, bytes: Uint8Array): Message {
  try {
    return fromBinary(descriptor.input, bytes);
  } catch (error) {
    throw new ApiError(Code.INVALID_ARGUMENT, `cannot parse ${descriptor.input.typeName}`, { cause: error });
  }
}

/** Puts bytes into envelopes, one behind the other. */
export function writeEnvelopes(...parts: readonly { readonly flags: number; readonly bytes: Uint8Array }[]): Buffer {
  const size = parts.reduce((sum, { bytes }) => sum + prefixLength + bytes.length, 0);
  const framed = Buffer.allocUnsafe(size);
  let at = 0;
  for (const { flags, bytes } of parts) {
    framed[at] = flags;
    framed.writeUInt32BE(bytes.length, at + 1);
    framed.set(bytes, at + prefixLength);
    at += prefixLength + bytes.length;
  }
  return framed;
}

function endOfMessage(body: Buffer, start: number, maxBytes: number): number {
  if (body.length < start + prefixLength) throw incomplete();
  const length = body.readUInt32BE(start + 1);
  if (length > maxBytes) throw resourceExhausted(`the message is larger than ${maxBytes} bytes`);
  const end = start + prefixLength + length;
  if (body.length < end) throw incomplete();
  return end;
}

function incomplete(): ApiError {
  return new ApiError(Code.INVALID_ARGUMENT, "protocol error: incomplete envelope");
}
