// The keys of other issuers: JSON Web Key Sets (RFC 7517 §5), of which only what is sound and useful is kept.
import { createPublicKey, type KeyObject, type webcrypto } from "node:crypto";
import { isJsonObject, type JsonObject } from "../base/json.ts";

/** The algorithms that outside tokens may be signed with. The symmetric ones and `none` are not among them. */
export const outsideAlgorithms: readonly string[] = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"];

/** What the header of a token says about its key. */
export interface KeyHint {
  readonly alg: string;
  readonly kid: string | undefined;
}

/** A set of keys to verify with. */
export interface KeySet {
  /** The keys that a token with this header can have been signed by, at most `maxCandidates`. */
  find(hint: KeyHint): Promise<readonly KeyObject[]>;
  /**
   * Further keys for a token that none of these has verified, since an issuer may replace a key under the same kid or have none
   * (RFC 7517 §4.5). Fetches the set again, unless a recent fetch brought no new key. A set that never changes has no such function.
   */
  findNewer?(hint: KeyHint): Promise<readonly KeyObject[]>;
}

/** A key of another issuer. */
export interface OutsideKey {
  readonly kid: string | undefined;
  readonly algorithms: readonly string[];
  readonly key: KeyObject;
}

/** The most keys that a set may have; a larger one is refused as a whole (security case J5). */
export const maxKeys = 100;

/** How many keys are tried for a token without a kid, each at the cost of a verification. */
const maxCandidates = 10;

// RFC 7518 §3.3 demands 2048 bits at least; beyond 8192 one verification costs milliseconds (security case D8).
const rsaBits = { least: 2048, most: 8192 };

/**
 * The usable keys of a JWK set; undefined when the document is none or has more than `maxKeys`.
 *
 * A key that is symmetric, weak, huge, not on its curve, not for signatures or for an algorithm that is not accepted
 * is left out (security case J8).
 */
export function parseKeySet(document: unknown): OutsideKey[] | undefined {
  const keys = isJsonObject(document) ? document.keys : undefined;
  if (!Array.isArray(keys) || keys.length > maxKeys) return undefined;
  return keys.map(parseKey).filter((key) => key !== undefined);
}

// RFC 7518 §6.2.2, §6.3.2, §6.4.1 and RFC 8037 §2: whoever has these can sign.
const privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/** The rule that a document breaks as a set of public keys that somebody hands in; undefined for a good one. */
export function checkPublicKeySet(document: unknown, most: number): string | undefined {
  const keys = isJsonObject(document) ? document.keys : undefined;
  if (!Array.isArray(keys)) return 'must be a JSON Web Key Set: a JSON object with an array "keys" (RFC 7517 §5)';
  if (keys.length > most) return `must have at most ${most} keys`;
  const shown = keys.filter(isJsonObject).flatMap((key) => privateMembers.filter((name) => Object.hasOwn(key, name)));
  if (shown.length > 0) return `must have public keys only: "${shown[0]}" is a member of a private or symmetric key`;
  if (keys.some((key) => parseKey(key) !== undefined)) return undefined;
  return `must have a public key for signatures by one of ${outsideAlgorithms.join(", ")}; RSA keys of 2048 to 8192 bits`;
}

/** The keys of a list for a token with this header. */
export function selectKeys(keys: readonly OutsideKey[], { alg, kid }: KeyHint): KeyObject[] {
  // RFC 8725 §3.1: a key is used only with the algorithms that it is for, whatever the header says.
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
    // The public members alone: a published private key is no better than its public half.
    return createPublicKey({ key: { kty, n, e, crv, x, y } as webcrypto.JsonWebKey, format: "jwk" });
  } catch {
    // Not a key: an EC point off its curve, for one.
    return undefined;
  }
}

function algorithmsOf({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): readonly string[] {
  if (type === "ed25519") return ["EdDSA"];
  if (type === "ec") return ecAlgorithms[details.namedCurve ?? ""] ?? [];
  const { modulusLength: bits = 0, publicExponent = 0n } = details;
  // RFC 8017 §3.1: the exponent is odd; a long one makes verifying as slow as signing.
  const isSound = bits >= rsaBits.least && bits <= rsaBits.most && publicExponent > 2n && publicExponent < 2n ** 32n;
  return type === "rsa" && isSound ? ["RS256", "RS384", "RS512", "PS256"] : [];
}

// RFC 7518 §3.4: each of these algorithms has its curve.
const ecAlgorithms: Readonly<Record<string, readonly string[]>> = { prime256v1: ["ES256"], secp384r1: ["ES384"] };
