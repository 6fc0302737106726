import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Bearer, maxBearerLength, parseBearer } from "../../src/authn/bearer.ts";

const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln_-0";
const malformed: Bearer = { problem: "malformed" };
const repeated: Bearer = { problem: "repeated" };
const tooLong: Bearer = { problem: "too long" };
const missing: Bearer = { problem: "missing" };

const cases: [name: string, header: string | undefined, expected: Bearer][] = [
  ["no header is missing", undefined, missing],
  ["an empty header is missing", "", missing],
  ["a blank header is missing", " \t", missing],
  ["RFC 6750 §2.1: scheme, space, token", `Bearer ${jwt}`, { token: jwt }],
  ["T14: the scheme in lower case", `bearer ${jwt}`, { token: jwt }],
  ["the scheme in upper case", `BEARER ${jwt}`, { token: jwt }],
  ["RFC 9110 §11.4: several spaces after the scheme", `Bearer   ${jwt}`, { token: jwt }],
  ["a trailing newline is dropped", `Bearer ${jwt}\n`, { token: jwt }],
  ["a bare JWT", jwt, { token: jwt }],
  ["a bare JWT with a trailing newline", `${jwt}\n`, { token: jwt }],
  ["a bare JWT with a trailing CR and LF", `${jwt}\r\n`, { token: jwt }],
  ["any b64token after the scheme, padded base64 too", "Bearer ab+/cd==", { token: "ab+/cd==" }],
  ["a scheme without a token", "Bearer", malformed],
  ["a scheme and blanks only", "Bearer   ", malformed],
  ["T14: two headers, joined", `Bearer ${jwt}, Bearer ${jwt}`, repeated],
  ["T14: two headers, joined without a space", `Bearer ${jwt},Bearer ${jwt}`, repeated],
  ["two bare headers, joined", `${jwt}, ${jwt}`, repeated],
  ["T14: scheme Basic", "Basic dXNlcjpwYXNz", malformed],
  ["scheme DPoP", `DPoP ${jwt}`, malformed],
  ["a scheme that only starts with Bearer", `Bearers ${jwt}`, malformed],
  ["a tab after the scheme", `Bearer\t${jwt}`, malformed],
  ["T8: white space inside the token", `Bearer ${jwt.replace(".", ". ")}`, malformed],
  ["T8: a newline inside the token", `Bearer ${jwt.replace(".", ".\n")}`, malformed],
  ["white space inside a bare token", jwt.replace(".", " ."), malformed],
  ["the scheme twice", `Bearer Bearer ${jwt}`, malformed],
  ["a quoted token", `Bearer "${jwt}"`, malformed],
  ["a character beyond ASCII", `Bearer ${jwt}é`, malformed],
  ["a NUL", `Bearer ${jwt}\0`, malformed],
  ["a bare word", "token", malformed],
  ["bare text of two segments", "abc.def", malformed],
  ["bare text of four segments", "a.b.c.d", malformed],
  ["bare text with an empty segment", "abc.def.", malformed],
  ["T9: 1 MiB of dots", ".".repeat(1024 * 1024), tooLong],
  ["T9: a token beyond the limit", `Bearer ${"a".repeat(maxBearerLength)}`, tooLong],
  ["a header at the limit", `Bearer ${"a".repeat(maxBearerLength - 7)}`, { token: "a".repeat(maxBearerLength - 7) }],
];

describe("parseBearer", () => {
  for (const [name, header, expected] of cases) {
    it(name, () => assert.deepEqual(parseBearer(header), expected));
  }
});
