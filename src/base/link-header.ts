// The header Link (RFC 8288), by which registries page their lists (OCI distribution-spec 1.1).

/**
 * Returns the address of the page after the one at an address; undefined for the last page, and `elsewhere` if the header names a page of
 * another origin or no address.
 */
export function nextPage(link: string | null | undefined, at: URL): URL | "elsewhere" | undefined {
  const next = /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(link ?? "")?.[1];
  if (next === undefined) return undefined;
  const target = URL.parse(next, at);
  return target?.origin === at.origin ? target : "elsewhere";
}
