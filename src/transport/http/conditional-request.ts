// RFC 9110 §13: requests for content that the client may have already.
import type { HttpRequest } from "./message.ts";

/** What tells one content of a path from another (RFC 9110 §8.8). */
export interface Validators {
  /** With its quotes, and `W/` before them where equal tags do not mean equal bytes. */
  readonly etag: string;
  /** When the content changed last, in milliseconds since the epoch; absent where a later change may have the same second. */
  readonly lastModified?: number;
}

/** The headers that tell a client the validators. */
export function validatorHeaders({ etag, lastModified }: Validators): Readonly<Record<string, string>> {
  return { etag, ...(lastModified !== undefined && { "last-modified": new Date(lastModified).toUTCString() }) };
}

/** Whether the client has the content already: it is then answered 304. */
export function isUnchanged({ headers }: Pick<HttpRequest, "headers">, { etag, lastModified }: Validators): boolean {
  const tags = headers["if-none-match"];
  // RFC 9110 §13.1.3: a time is ignored where tags are given.
  if (tags !== undefined) return namesTag(tags, etag);
  const since = parseHttpDate(headers["if-modified-since"] ?? "");
  return lastModified !== undefined && Math.floor(lastModified / 1000) * 1000 <= since;
}

/** RFC 9110 §13.1.3: any other text is ignored. All three forms of §5.6.7 begin with a day of the week; NaN for anything else. */
function parseHttpDate(text: string): number {
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return Number.NaN;
  return Date.parse(text.endsWith(" GMT") ? text : `${text} GMT`);
}

/** Whether an If-None-Match names a tag, weakly compared (RFC 9110 §8.8.3.2). */
function namesTag(header: string, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, "");
  return header.split(",").some((each) => each.trim() === "*" || opaque(each) === opaque(etag));
}
