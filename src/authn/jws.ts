// RFC 7515 compact serialization, restricted to the one form that we issue. Everything else is rejected: alternative
// spellings of a token, headers that select a key and algorithms chosen by the sender have all been attacks.
import { isUtf8 } from "node:buffer";
import { sign, verify } from "node:crypto";
import { promisify } from "node:util";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import type { KeyAlgorithm, SigningKey, VerificationKey } from "./signing-key.ts";
import { TokenError } from "./token-error.ts";

/** A parsed token. Do not trust anything in it before `verifyJws` succeeds. */
export interface Jws {
  readonly algorithm: KeyAlgorithm;
  readonly kid: string;
  readonly payload: JsonObject;
  readonly signingInput: string;
  readonly signature: Buffer;
}

const signAsync = promisify(sign);

/** Signs a payload. RSA signs off the event loop: a signature takes a millisecond. One of ES256 takes less than to hand it over. */
export async function signJws(payload: JsonObject, key: SigningKey): Promise<string> {
  const header = { alg: key.algorithm, kid: key.kid, typ: "JWT" };
  const signingInput = `${encode(header)}.${encode(payload)}`;
  const signOne = key.algorithm === "ES256" ? sign : signAsync;
  const signature = await signOne("sha256", Buffer.from(signingInput), parameters(key.privateKey));
  return `${signingInput}.${signature.toString("base64url")}`;
}

/** Parses a token. Throws a TokenError unless it has exactly the form that `signJws` writes. */
export function parseJws(token: string): Jws {
  const headerEnd = token.indexOf(".");
  const payloadEnd = token.indexOf(".", headerEnd + 1);
  // Exactly three segments: five would be encryption (RFC 7516), which is not supported.
  if (headerEnd < 0 || payloadEnd < 0 || token.includes(".", payloadEnd + 1)) throw new TokenError("malformed");
  const header = readHeader(parseObject(token.slice(0, headerEnd)));
  const payload = parseObject(token.slice(headerEnd + 1, payloadEnd));
  const signature = decode(token.slice(payloadEnd + 1));
  return { ...header, payload, signingInput: token.slice(0, payloadEnd), signature };
}

/** Verifies the signature. Throws a TokenError if the token names another algorithm than that of the key. */
export function verifyJws(jws: Jws, key: VerificationKey): boolean {
  // RFC 8725 §3.1: a key is used with its own algorithm only, never with the one that the token names.
  if (jws.algorithm !== key.algorithm) throw new TokenError("algorithm");
  return verify("sha256", Buffer.from(jws.signingInput), parameters(key.publicKey), jws.signature);
}

// RFC 7518 §3.4: R and S concatenated, not DER. RSA ignores this option.
function parameters(key: SigningKey["privateKey"]) {
  return { key, dsaEncoding: "ieee-p1363" } as const;
}

// RFC 7515 §4.1: jwk, jku, x5c and x5u would let the sender choose the key; crit and zip change what is signed.
const headerMembers: ReadonlySet<string> = new Set(["alg", "kid", "typ"]);

function readHeader(header: JsonObject): Pick<Jws, "algorithm" | "kid"> {
  const { alg, kid, typ } = header;
  // RFC 8725 §3.2: rejects `none` and the symmetric algorithms.
  if (alg !== "RS256" && alg !== "ES256") throw new TokenError("algorithm");
  // RFC 8725 §3.11: an explicit type separates our API tokens from other tokens signed by the same keys.
  if (typeof kid !== "string" || typ !== "JWT") throw new TokenError("header");
  if (!Object.keys(header).every((member) => headerMembers.has(member))) throw new TokenError("header");
  return { algorithm: alg, kid };
}

function encode(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** Decodes unpadded base64url, and only the spelling whose unused bits are zero (RFC 7515 §2). */
function decode(segment: string): Buffer {
  const bytes = Buffer.from(segment, "base64url");
  if (bytes.toString("base64url") !== segment) throw new TokenError("malformed");
  return bytes;
}

function parseObject(segment: string): JsonObject {
  const bytes = decode(segment);
  const value = isUtf8(bytes) ? parseCanonical(bytes.toString()) : undefined;
  if (!isJsonObject(value)) throw new TokenError("malformed");
  return value;
}

/**
 * Returns undefined unless JSON.stringify would write the same text: rejects duplicate members above all (RFC 8725
 * §2.4).
 */
function parseCanonical(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}
