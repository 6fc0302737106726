// AIP-158: page tokens are opaque, belong to one query of one caller, and expire after 3 days.
import { createHmac, timingSafeEqual } from "node:crypto";

/** The lifetime of a page token: three days. */
export const pageTokenLifetimeMs = 3 * 24 * 60 * 60 * 1000;

/**
 * Longer than every valid token: the sort value has at most 384 code points of up to six bytes each in JSON
 * (storage/schema), and the length of a uid is limited by the depth of groups.
 */
const maxLength = 4096;
const macLength = 16;

/** The position where a page starts, and the query that the token belongs to. */
export interface PageToken {
  /** When the token was created, in milliseconds since the epoch. */
  readonly issuedAt: number;
  /** A digest of caller, method and filters. */
  readonly query: string;
  /** The order of the query, such as `name desc`. */
  readonly order: string;
  /** The sort value and uid of the last row of the previous page. */
  readonly value: string | number;
  readonly uid: string;
}

/** Formats a token. Without the key nobody can create or change one. */
export function formatPageToken(key: Uint8Array, token: PageToken): string {
  const { issuedAt, query, order, value, uid } = token;
  const body = Buffer.from(JSON.stringify([issuedAt, query, order, value, uid]));
  return Buffer.concat([mac(key, body), body]).toString("base64url");
}

/**
 * Parses a token. Returns undefined if it was not created with the key. The MAC is checked before anything is decoded.
 */
export function parsePageToken(key: Uint8Array, text: string): PageToken | undefined {
  if (text.length > maxLength) return undefined;
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length <= macLength || bytes.toString("base64url") !== text) return undefined;
  const body = bytes.subarray(macLength);
  if (!timingSafeEqual(bytes.subarray(0, macLength), mac(key, body))) return undefined;
  const [issuedAt, query, order, value, uid] = JSON.parse(body.toString());
  return { issuedAt, query, order, value, uid };
}

/** Reports whether a token is past its lifetime. */
export function isExpired(token: PageToken, now: number): boolean {
  return now - token.issuedAt >= pageTokenLifetimeMs;
}

function mac(key: Uint8Array, body: Uint8Array): Buffer {
  // The label separates page tokens from other texts authenticated with the same key.
  return createHmac("sha256", key).update("page-token\0").update(body).digest().subarray(0, macLength);
}
