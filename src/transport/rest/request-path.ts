import { invalidField } from "../../aip/errors.ts";

/** The path of a request: segments decoded exactly once, and the two readings of a colon in the last one. */
export interface RequestPath {
  /** The colon, if any, taken as part of the last segment. */
  readonly segments: readonly string[];
  /** The last segment split at its last colon; undefined without a colon, and where nothing follows the colon. */
  readonly verb: { readonly segments: readonly string[]; readonly name: string } | undefined;
}

/**
 * Takes a raw path (still percent-encoded, without query) apart; undefined when it does not begin with `/`.
 *
 * An empty last segment, which a trailing slash makes, is kept. Throws INVALID_ARGUMENT for an empty segment elsewhere,
 * a malformed escape, and a segment `.` or `..`, encoded or not, also as part of an encoded multi-segment value.
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
