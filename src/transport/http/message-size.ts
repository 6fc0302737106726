// The size limit of messages. It excludes the prefix of a message, and applies to the uncompressed form: compression enlarges random bytes.
import { type ApiError, resourceExhausted } from "../../aip/errors.ts";

/** The most values that a message may hold. Decoding more would delay other requests. */
export const maxValues = 200_000;

/** The most bytes of a request to health and reflection, which respond to everybody: it holds a name. */
export const maxOperationBytes = 64 * 1024;

/** Returns the most bytes that a message within the limit may have on the wire, without its prefix. */
export function maxWireBytes(maxBytes: number, isCompressed: boolean): number {
  // RFC 1951 §3.2.4: a stored block adds 5 bytes, and encoders use blocks of 16 KiB or more; brotli adds less.
  return isCompressed ? maxBytes + (maxBytes >> 8) + 1024 : maxBytes;
}

/** RESOURCE_EXHAUSTED, in the same words for every transport. */
export function messageTooLarge(maxBytes: number): ApiError {
  return resourceExhausted(`the message is larger than ${maxBytes} bytes`);
}

/**
 * Throws if the announced body is larger than a message may be, besides its prefix.
 *
 * connect-node would send its error in several frames. A client that stops sending between them has sent less than it announced, and
 * nghttp2 resets its stream for that (RFC 9113 §8.1.1).
 */
export function checkAnnouncedLength(
  header: (name: string) => string | undefined,
  maxBytes: number,
  { prefixBytes, isCompressed }: { readonly prefixBytes: number; readonly isCompressed: boolean },
): void {
  const most = prefixBytes + maxWireBytes(maxBytes, isCompressed);
  if (Number(header("content-length") ?? 0) > most) throw messageTooLarge(maxBytes);
}
