import { unauthenticated } from "../aip/errors.ts";

/** The maximum length of an Authorization header in characters. Tokens are always shorter. */
export const maxBearerLength = 16 * 1024;

/** The content of an Authorization header. */
export type Bearer = { readonly token: string } | { readonly problem: BearerProblem };

/** The reason why an Authorization header contains no token. */
export type BearerProblem = "missing" | "too long" | "repeated" | "malformed";

// RFC 6750 §2.1: credentials = "Bearer" 1*SP b64token; RFC 9110 §11.1: the scheme is case-insensitive.
const credentials = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

// Clients that read the token from a file may send it without a scheme. Only a signed JWT with three segments is
// accepted, so the name of another scheme or half a header never passes for a token.
const bareToken = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/**
 * Parses the token in an Authorization header, ignoring surrounding white space.
 *
 * Repeated headers, which transports join by ", ", are malformed (security case T14), as is a header longer than
 * `maxBearerLength`.
 */
export function parseBearer(header: string | undefined): Bearer {
  if (header === undefined) return { problem: "missing" };
  if (header.length > maxBearerLength) return { problem: "too long" };
  const value = header.trim();
  if (value === "") return { problem: "missing" };
  const token = credentials.exec(value)?.[1] ?? bareToken.exec(value)?.[0];
  if (token !== undefined) return { token };
  return { problem: value.includes(",") ? "repeated" : "malformed" };
}

/**
 * Returns the token in an Authorization header. Throws UNAUTHENTICATED with the problem of the header; `credential`
 * says what the header should contain, such as "a bearer token".
 */
export function requireBearer(header: string | undefined, credential: string): string {
  const bearer = parseBearer(header);
  if ("token" in bearer) return bearer.token;
  throw unauthenticated(`${credential} is required: ${problems[bearer.problem]}`);
}

const form = '"Authorization: Bearer <token>"';

const problems: Readonly<Record<BearerProblem, string>> = {
  // RFC 9113 §8.2.1: HTTP/2 clients drop a header with a line break, such as a token read from a file with its final
  // newline.
  missing: `send ${form}; a header with a line break in its value does not arrive`,
  "too long": `the Authorization header has more than ${maxBearerLength} characters`,
  repeated: `send ${form} once, and nothing else in that header`,
  malformed: `the Authorization header is not of the form ${form}`,
};
