import { invalidField } from "../../aip/errors.ts";

/** A request path: decoded segments, and both readings of a colon in the last one. */
export interface RequestPath {
  /** With a colon as part of the last segment. */
  readonly segments: readonly string[];
  /** With the last segment split at its last colon; undefined if there is no colon, or nothing behind it. */
  readonly verb: { readonly segments: readonly string[]; readonly name: string } | undefined;
}

/**
 * Parses a raw path, percent-encoded and without query; returns undefined if it does not begin with `/`. Decodes each segment once.
 *
 * A trailing slash makes an empty last segment. Throws INVALID_ARGUMENT for an empty segment elsewhere, for a malformed escape, and for a
 * segment `.` or `..`, encoded or not, also within an encoded value of several segments.
 */
export function parseRawPath(raw: string): RequestPath | undefined {
  if (!raw.startsWith("/")) return undefined;
  if (raw.includes("//")) throw invalidField("path", "must not have empty segments");
  const parts = raw.slice(1).split("/");
  const last = parts.at(-1)!;
  const colon = last.lastIndexOf(":");
  const isPlain = !raw.includes("%") && !raw.includes("/.");
  const segments = isPlain ? parts : parts.map(decodeSegment);
  // AIP-136: a custom method has a name. Without one, `UID:` would be a second spelling of `UID`.
  if (colon < 0 || colon === last.length - 1) return { segments, verb: undefined };
  const split = segments.with(-1, decodeSegment(last.slice(0, colon)));
  return { segments, verb: { segments: split, name: decodeSegment(last.slice(colon + 1)) } };
}

function decodeSegment(raw: string): string {
  const text = raw.includes("%") ? decodeEscapes(raw) : raw;
  if (text.includes(".") && text.split("/").some((piece) => piece === "." || piece === "..")) {
    throw invalidField("path", 'must not have segments "." or ".."');
  }
  return text;
}

function decodeEscapes(raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    throw invalidField("path", "has a malformed percent-escape");
  }
}
