import { unauthenticated } from "../aip/errors.ts";

/** The longest Authorization header that is read, in characters; a token is never longer. */
export const maxBearerLength = 16 * 1024;

/** What an Authorization header holds. */
export type Bearer = { readonly token: string } | { readonly problem: BearerProblem };

/** Why an Authorization header holds no token. */
export type BearerProblem = "missing" | "too long" | "repeated" | "malformed";

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
  if (header.length > maxBearerLength) return { problem: "too long" };
  const value = header.trim();
  if (value === "") return { problem: "missing" };
  const token = credentials.exec(value)?.[1] ?? bareToken.exec(value)?.[0];
  if (token !== undefined) return { token };
  return { problem: value.includes(",") ? "repeated" : "malformed" };
}

/**
 * Reads the token out of an Authorization header. Throws UNAUTHENTICATED, naming what is wrong with the header; `credential`
 * is what it should carry, such as "a bearer token".
 */
export function requireBearer(header: string | undefined, credential: string): string {
  const bearer = parseBearer(header);
  if ("token" in bearer) return bearer.token;
  throw unauthenticated(`${credential} is required: ${problems[bearer.problem]}`);
}

const form = '"Authorization: Bearer <token>"';

const problems: Readonly<Record<BearerProblem, string>> = {
  // RFC 9113 §8.2.1: HTTP/2 drops such a field, as of a token that is read from a file together with its last line break.
  missing: `send ${form}; a header with a line break in its value does not arrive`,
  "too long": `the Authorization header has more than ${maxBearerLength} characters`,
  repeated: `send ${form} once, and nothing else in that header`,
  malformed: `the Authorization header is not of the form ${form}`,
};
