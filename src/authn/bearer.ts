/** The longest Authorization header that is read, in characters; a token is never longer. */
export const maxBearerLength = 16 * 1024;

/** What an Authorization header holds. */
export type Bearer = { readonly token: string } | { readonly problem: "missing" | "malformed" };

// RFC 6750 §2.1: credentials = "Bearer" 1*SP b64token; RFC 9110 §11.1: the scheme is case-insensitive.
const credentials = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

// A file-based credential is sent without a scheme. Only the three segments of a signed JWT pass for one,
// so that another scheme's name or half a header never does.
const bareToken = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/**
 * Reads the token out of an Authorization header; white space around the header is dropped.
 *
 * Two headers, which doors join by ", ", are malformed (security case T14), as is anything over `maxBearerLength`.
 */
export function parseBearer(header: string | undefined): Bearer {
  if (header === undefined) return { problem: "missing" };
  if (header.length > maxBearerLength) return { problem: "malformed" };
  const value = header.trim();
  if (value === "") return { problem: "missing" };
  const token = credentials.exec(value)?.[1] ?? bareToken.exec(value)?.[0];
  return token === undefined ? { problem: "malformed" } : { token };
}
