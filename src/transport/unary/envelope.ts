// The envelope of gRPC and gRPC-web messages: a byte of flags, four bytes of length, the message.
import { ApiError, Code, unimplemented } from "../../aip/errors.ts";
import { maxWireBytes, messageTooLarge } from "../http/message-size.ts";
import { type Compression, compressLong, type WireMessage } from "./compression.ts";

/** Bytes in front of a message. */
export const prefixLength = 5;

/** The only flag that the envelope of a request may have (gRPC over HTTP/2, "Requests"). */
export const compressedFlag = 1;

/** Opens the only envelope of a body: see `Protocol.open`. Throws INTERNAL, as gRPC servers do, for unknown flags. */
export function openEnvelope(body: Buffer, maxBytes: number, isEncoded: boolean): WireMessage {
  if (body.length === 0) throw unimplemented("protocol error: missing input message for unary method");
  const end = endOfMessage(body, 0, maxBytes, isEncoded);
  if (body.length > end) {
    endOfMessage(body, end, maxBytes, isEncoded);
    throw unimplemented("protocol error: received extra input message for unary method");
  }
  const flags = body.readUInt8(0);
  if (flags > compressedFlag) throw new ApiError(Code.INTERNAL, `protocol error: the flags of a message are ${flags}`);
  const isCompressed = flags === compressedFlag;
  // gRPC's compression.md: INTERNAL.
  if (isCompressed && !isEncoded)
    throw new ApiError(Code.INTERNAL, "protocol error: the message is compressed, but no encoding is named");
  return { bytes: body.subarray(prefixLength, end), isCompressed };
}

/** Wraps bytes in an envelope. */
export function wrap(flags: number, bytes: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(prefixLength + bytes.length);
  framed.set(bytes, prefixLength);
  return fillPrefix(framed, flags, framed.length);
}

/** Returns a response in an envelope, compressed if it is long enough. */
export async function compressedEnvelope(message: string | Uint8Array, compression: Compression): Promise<Buffer> {
  const { bytes, isCompressed } = await compressLong(message, compression);
  return wrap(isCompressed ? compressedFlag : 0, bytes);
}

/** Writes flags and length in front of a message that ends at `end`. */
export function fillPrefix(framed: Buffer, flags: number, end: number): Buffer {
  framed[0] = flags;
  framed.writeUInt32BE(end - prefixLength, 1);
  return framed;
}

function endOfMessage(body: Buffer, start: number, maxBytes: number, isEncoded: boolean): number {
  if (body.length < start + prefixLength) throw incomplete();
  const length = body.readUInt32BE(start + 1);
  if (length > maxWireBytes(maxBytes, isEncoded)) throw messageTooLarge(maxBytes);
  const end = start + prefixLength + length;
  if (body.length < end) throw incomplete();
  return end;
}

function incomplete(): ApiError {
  return new ApiError(Code.INVALID_ARGUMENT, "protocol error: incomplete envelope");
}
