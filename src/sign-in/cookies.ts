/** A cookie that no script can read. */
export interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly sameSite: "Lax" | "Strict";
  /** In milliseconds; 0 deletes the cookie. */
  readonly lifeMs: number;
  /** Whether browsers send it over TLS only. */
  readonly isSecure: boolean;
}

/** Returns the header that sets a cookie. */
export function cookieLine({ name, value, path, sameSite, lifeMs, isSecure }: Cookie): string {
  const attributes = [`Path=${path}`, "HttpOnly", `SameSite=${sameSite}`, `Max-Age=${Math.floor(lifeMs / 1000)}`];
  return [`${name}=${value}`, ...attributes, ...(isSecure ? ["Secure"] : [])].join("; ");
}

/**
 * Reads a cookie of a Cookie header. Returns undefined if it is not there exactly once: another host of the same domain can
 * add a cookie of the same name (RFC 6265bis §8.6).
 */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  const found = pairs.filter((pair) => pair.startsWith(`${name}=`));
  return found.length === 1 ? found[0]!.slice(name.length + 1) : undefined;
}
