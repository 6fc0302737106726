// Content codings (RFC 9110 §8.4): large responses are compressed for clients that accept it.
import type { RequestHead } from "./head.ts";
import type { OutgoingResponse } from "./response.ts";

/** Shorter responses are not compressed: on a network of their own, most clients would wait longer for it. */
const minCompressedBytes = 64 * 1024;

/** Whether a client accepts a content coding, by its Accept-Encoding (RFC 9110 §12.5.3). Nothing is accepted if there is none. */
export function acceptsCoding(accepted: string, coding: string): boolean {
  const weights = new Map(accepted.toLowerCase().split(",").map(parseWeight));
  return (weights.get(coding) ?? weights.get("*") ?? 0) > 0;
}

function parseWeight(item: string): [coding: string, weight: number] {
  const [coding = "", ...parameters] = item.split(";").map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith("q="));
  return [coding, weight === undefined ? 1 : Number(weight.slice(2)) || 0];
}

/** Whether a response is large enough to be compressed, and is not compressed already. */
export function isCompressible({ headers, body = "" }: OutgoingResponse): boolean {
  return headers["content-encoding"] === undefined && Buffer.byteLength(body) >= minCompressedBytes;
}

/** Returns a compressible response as the client accepts it: with gzip, or as it is. Compression runs outside of the event loop. */
export async function encodeFor(head: RequestHead, response: OutgoingResponse): Promise<OutgoingResponse> {
  const { vary, ...headers } = response.headers;
  // RFC 9110 §12.5.5: also if this response is not compressed.
  const varying = { ...headers, vary: vary === undefined ? "Accept-Encoding" : `${vary}, Accept-Encoding` };
  if (!acceptsCoding(head.header("accept-encoding") ?? "", "gzip")) return { ...response, headers: varying };
  const body = await gzip(response.body ?? "");
  return { ...response, headers: { ...varying, "content-encoding": "gzip" }, body };
}

function gzip(content: string | Uint8Array): Promise<Buffer> {
  const { gzip: compress, constants } = process.getBuiltinModule("node:zlib");
  return new Promise((resolve, reject) => {
    compress(content, { level: constants.Z_BEST_SPEED }, (error, bytes) => (error ? reject(error) : resolve(bytes)));
  });
}
