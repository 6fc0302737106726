// RFC 9110 §13: requests for content that the client may already have.
import type { HttpRequest } from "./message.ts";

/** The validators of a content (RFC 9110 §8.8). */
export interface Validators {
  /** With its quotes; prefixed with `W/` if equal tags do not mean equal bytes. */
  readonly etag: string;
  /** The time of the last change, in milliseconds since the epoch; absent if a later change may have the same second. */
  readonly lastModified?: number;
}

/** Returns the headers `etag` and `last-modified`. */
export function validatorHeaders({ etag, lastModified }: Validators): Readonly<Record<string, string>> {
  return { etag, ...(lastModified !== undefined && { "last-modified": new Date(lastModified).toUTCString() }) };
}

/** Whether the client already has the content: the response is then a 304. */
export function isUnchanged({ headers }: Pick<HttpRequest, "headers">, { etag, lastModified }: Validators): boolean {
  const tags = headers["if-none-match"];
  // RFC 9110 §13.1.3: the time is ignored if there are tags.
  if (tags !== undefined) return namesTag(tags, etag);
  const since = parseHttpDate(headers["if-modified-since"] ?? "");
  return lastModified !== undefined && Math.floor(lastModified / 1000) * 1000 <= since;
}

/** Returns NaN for any other text (RFC 9110 §13.1.3). All three forms of §5.6.7 begin with a day of the week. */
function parseHttpDate(text: string): number {
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return Number.NaN;
  return Date.parse(text.endsWith(" GMT") ? text : `${text} GMT`);
}

/** Whether an If-None-Match contains a tag by weak comparison (RFC 9110 §8.8.3.2). */
function namesTag(header: string, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, "");
  return header.split(",").some((each) => each.trim() === "*" || opaque(each) === opaque(etag));
}
