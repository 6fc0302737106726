// AIP-158: page tokens are opaque, belong to one query of one caller, and end after 3 days.
import { createHmac, timingSafeEqual } from "node:crypto";

/** How long a page token can be used: three days. */
export const pageTokenLifetimeMs = 3 * 24 * 60 * 60 * 1000;

/**
 * Longer than every token that is made: the sort value has 384 code points at most, of up to six bytes each in JSON
 * (`orderedLength` in storage/list/order.ts), and a uid is as long as groups are deep.
 */
const maxLength = 4096;
const macLength = 16;

/** Where a page starts, and what the token was made for. */
export interface PageToken {
  /** When the token was made, in milliseconds since the epoch. */
  readonly issuedAt: number;
  /** Digest of the caller, the method and the filters. */
  readonly query: string;
  /** The order of the query, such as `name desc`. */
  readonly order: string;
  /** The sort value and the uid of the row that the page follows. */
  readonly value: string | number;
  readonly uid: string;
}

/** Makes the text of a token; whoever lacks the key can neither make nor change one. */
export function formatPageToken(key: Uint8Array, token: PageToken): string {
  const { issuedAt, query, order, value, uid } = token;
  const body = Buffer.from(JSON.stringify([issuedAt, query, order, value, uid]));
  return Buffer.concat([mac(key, body), body]).toString("base64url");
}

/** Reads a token; undefined when it was not made with the key. The MAC is checked before anything is decoded. */
export function parsePageToken(key: Uint8Array, text: string): PageToken | undefined {
  if (text.length > maxLength) return undefined;
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length <= macLength || bytes.toString("base64url") !== text) return undefined;
  const body = bytes.subarray(macLength);
  if (!timingSafeEqual(bytes.subarray(0, macLength), mac(key, body))) return undefined;
  const [issuedAt, query, order, value, uid] = JSON.parse(body.toString());
  return { issuedAt, query, order, value, uid };
}

/** Whether a token is past its lifetime. */
export function isExpired(token: PageToken, now: number): boolean {
  return now - token.issuedAt >= pageTokenLifetimeMs;
}

function mac(key: Uint8Array, body: Uint8Array): Buffer {
  // The label keeps a page token from passing for anything else that is authenticated by the same key.
  return createHmac("sha256", key).update("page-token\0").update(body).digest().subarray(0, macLength);
}
