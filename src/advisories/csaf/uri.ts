// Addresses as CSAF has them: URIs of RFC 3986, which `URL` does not always write.

/** Returns the address as a URI; undefined if it is not a URI. */
export function toUri(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const [, start = "", rest = ""] = /^([^:]+:(?:\/\/[^/?#]*)?)(.*)$/s.exec(new URL(text).href) ?? [];
  const [address, ...fragment] = rest.split("#");
  return start + [address!, ...(fragment.length > 0 ? [fragment.join("%23")] : [])].map(escapeOthers).join("#");
}

// RFC 3986 §3.3 to §3.5: the characters of paths, queries and fragments.
function escapeOthers(text: string): string {
  return text.replace(/%(?![0-9A-Fa-f]{2})|[^\w.~!$&'()*+,;=:@/?%-]/g, encodeURIComponent);
}
