// Key sets of other issuers (RFC 7517 §5). Only sound and usable keys are kept.
import { constants, createPublicKey, type KeyObject, verify, type webcrypto } from "node:crypto";
import { isJsonObject, type JsonObject } from "../base/json.ts";

// RFC 7518 §3.4: R and S concatenated, not DER.
const ecdsa = { dsaEncoding: "ieee-p1363" } as const;

/** How to verify each algorithm (RFC 7518 §3.1, RFC 8037 §3.1). */
const verifications: Readonly<Record<string, { readonly digest: string | null; readonly options: object }>> = {
  RS256: { digest: "sha256", options: {} },
  RS384: { digest: "sha384", options: {} },
  RS512: { digest: "sha512", options: {} },
  // RFC 7518 §3.5: the salt is as long as the digest.
  PS256: { digest: "sha256", options: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 } },
  ES256: { digest: "sha256", options: ecdsa },
  ES384: { digest: "sha384", options: ecdsa },
  EdDSA: { digest: null, options: {} },
};

/** The algorithms that subject tokens may be signed with: neither `none` nor symmetric ones. */
export const outsideAlgorithms: readonly string[] = Object.keys(verifications);

/** Reports whether a key of `find`, for this algorithm, made the signature of a compact JWS (RFC 7515 §5.2). */
export function verifyOutsideJws(token: string, alg: string, key: KeyObject): boolean {
  const { digest, options } = verifications[alg]!;
  const end = token.lastIndexOf(".");
  const signature = Buffer.from(token.slice(end + 1), "base64url");
  return verify(digest, Buffer.from(token.slice(0, end)), { key, ...options }, signature);
}

/** The header members of a token that select its key. */
export interface KeyHint {
  readonly alg: string;
  readonly kid: string | undefined;
}

/** A set of verification keys. */
export interface KeySet {
  /** Returns the keys that may have signed a token with this header, at most `maxCandidates`. */
  find(hint: KeyHint): Promise<readonly KeyObject[]>;
  /**
   * Returns further keys for a token that no returned key verified: an issuer may reuse a key id or have none (RFC 7517
   * §4.5). Fetches the set again unless a recent fetch brought no new key. Absent for sets that never change.
   */
  findNewer?(hint: KeyHint): Promise<readonly KeyObject[]>;
}

/** A key of another issuer. */
export interface OutsideKey {
  readonly kid: string | undefined;
  readonly algorithms: readonly string[];
  readonly key: KeyObject;
}

/** The maximum number of keys in a set; a larger set is rejected (security case J5). */
export const maxKeys = 100;

/** The maximum number of keys that are tried for a token without a key id. Each costs a signature check. */
const maxCandidates = 10;

// RFC 7518 §3.3 requires at least 2048 bits; above 8192, one verification takes milliseconds (security case D8).
const rsaBits = { least: 2048, most: 8192 };

/**
 * Returns the usable keys of a JWK set, or undefined if the document is not a key set or has more than `maxKeys`.
 *
 * Leaves out keys that are symmetric, weak, too large, not on their curve, not for signatures, or for an algorithm that
 * is not accepted (security case J8).
 */
export function parseKeySet(document: unknown): OutsideKey[] | undefined {
  const keys = isJsonObject(document) ? document.keys : undefined;
  if (!Array.isArray(keys) || keys.length > maxKeys) return undefined;
  return keys.map(parseKey).filter((key) => key !== undefined);
}

// RFC 7518 §6.2.2, §6.3.2, §6.4.1 and RFC 8037 §2: members of private and symmetric keys.
const privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/** Returns the rule that a document breaks as a set of public keys in a request, or undefined if it is valid. */
export function checkPublicKeySet(document: unknown, most: number): string | undefined {
  const keys = isJsonObject(document) ? document.keys : undefined;
  if (!Array.isArray(keys)) return 'must be a JSON Web Key Set: a JSON object with an array "keys" (RFC 7517 §5)';
  if (keys.length > most) return `must have at most ${most} keys`;
  const shown = keys.filter(isJsonObject).flatMap((key) => privateMembers.filter((name) => Object.hasOwn(key, name)));
  if (shown.length > 0) return `must have public keys only: "${shown[0]}" is a member of a private or symmetric key`;
  if (keys.some((key) => parseKey(key) !== undefined)) return undefined;
  return `must have a public key for signatures by one of ${outsideAlgorithms.join(", ")}; RSA keys of 2048 to 8192 bits`;
}

/** Returns the keys that fit the header of a token. */
export function selectKeys(keys: readonly OutsideKey[], { alg, kid }: KeyHint): KeyObject[] {
  // RFC 8725 §3.1: a key is used only with its own algorithms, regardless of the header.
  const fitting = keys.filter((key) => key.algorithms.includes(alg) && (kid === undefined || key.kid === kid));
  return fitting.slice(0, maxCandidates).map(({ key }) => key);
}

function parseKey(jwk: unknown): OutsideKey | undefined {
  if (!isJsonObject(jwk) || !isForSignatures(jwk)) return undefined;
  const key = importKey(jwk);
  const algorithms = key ? algorithmsOf(key).filter((alg) => jwk.alg === undefined || jwk.alg === alg) : [];
  if (!key || algorithms.length === 0) return undefined;
  return { kid: typeof jwk.kid === "string" ? jwk.kid : undefined, algorithms, key };
}

// RFC 7517 §4.2 and §4.3.
function isForSignatures({ use, key_ops: operations }: JsonObject): boolean {
  if (use !== undefined && use !== "sig") return false;
  return operations === undefined || (Array.isArray(operations) && operations.includes("verify"));
}

function importKey({ kty, n, e, crv, x, y }: JsonObject): KeyObject | undefined {
  try {
    // Uses the public members only, even if the issuer published a private key.
    return createPublicKey({ key: { kty, n, e, crv, x, y } as webcrypto.JsonWebKey, format: "jwk" });
  } catch {
    // Not a valid key, for example an EC point that is not on its curve.
    return undefined;
  }
}

function algorithmsOf({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): readonly string[] {
  if (type === "ed25519") return ["EdDSA"];
  if (type === "ec") return ecAlgorithms[details.namedCurve ?? ""] ?? [];
  const { modulusLength: bits = 0, publicExponent = 0n } = details;
  // RFC 8017 §3.1: the exponent is odd. A long exponent makes verification as slow as signing.
  const isSound = bits >= rsaBits.least && bits <= rsaBits.most && publicExponent > 2n && publicExponent < 2n ** 32n;
  return type === "rsa" && isSound ? ["RS256", "RS384", "RS512", "PS256"] : [];
}

// RFC 7518 §3.4: each algorithm has its own curve.
const ecAlgorithms: Readonly<Record<string, readonly string[]>> = { prime256v1: ["ES256"], secp384r1: ["ES384"] };
