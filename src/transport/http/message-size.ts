// How large a message may be. The limit is for the message itself: not for its prefix, and not for its compressed form, which is larger
// than the message where that has no patterns.
import { type ApiError, resourceExhausted } from "../../aip/errors.ts";

/** The most values that a message may hold, so that decoding it does not delay other requests. */
export const maxValues = 200_000;

/** The most bytes of a request to health and reflection, which respond to everybody: it holds a name. */
export const maxOperationBytes = 64 * 1024;

/** The most bytes that a message within the limit has on the wire, without its prefix. */
export function maxWireBytes(maxBytes: number, isCompressed: boolean): number {
  // RFC 1951 §3.2.4: a stored block adds 5 bytes to at most 65,535, and encoders make them of 16 KiB; brotli adds less.
  return isCompressed ? maxBytes + (maxBytes >> 8) + 1024 : maxBytes;
}

/** RESOURCE_EXHAUSTED, as every transport says it. */
export function messageTooLarge(maxBytes: number): ApiError {
  return resourceExhausted(`the message is larger than ${maxBytes} bytes`);
}
