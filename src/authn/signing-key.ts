// Creates, stores and validates signing keys.
import { createPrivateKey, createPublicKey, generateKeyPair, hash, type KeyObject } from "node:crypto";
import { promisify } from "node:util";

/** The signature algorithms of our tokens (RFC 7518 §3.1). */
export type KeyAlgorithm = "RS256" | "ES256";

/** A signing key as stored. Contains the private key: it must not appear in logs, responses or change log entries. */
export interface KeyRecord {
  /** The RFC 7638 thumbprint of the public key. */
  readonly kid: string;
  readonly algorithm: KeyAlgorithm;
  /** JSON text of the private JWK. */
  readonly privateJwk: string;
  /** Milliseconds since the epoch, as is `retireTime`. */
  readonly createTime: number;
  /** When the key stops verifying tokens. Undefined while it signs. */
  readonly retireTime: number | undefined;
}

/** A public key as the key set publishes it (RFC 7517 §4, RFC 7518 §6). */
export interface PublicJwk {
  readonly kty: "RSA" | "EC";
  readonly use: "sig";
  readonly alg: KeyAlgorithm;
  readonly kid: string;
  readonly n?: string;
  readonly e?: string;
  readonly crv?: string;
  readonly x?: string;
  readonly y?: string;
}

/** A private key that signs tokens. */
export interface SigningKey {
  readonly kid: string;
  readonly algorithm: KeyAlgorithm;
  readonly privateKey: KeyObject;
}

/** A public key that verifies tokens. */
export interface VerificationKey {
  readonly kid: string;
  readonly algorithm: KeyAlgorithm;
  readonly publicKey: KeyObject;
  /** Milliseconds since the epoch: no token of this key is valid after it. */
  readonly retireTime: number | undefined;
}

/** A stored key, validated and ready for use. */
export interface LoadedKey extends SigningKey, VerificationKey {
  /** Milliseconds since the epoch. */
  readonly createTime: number;
  readonly publicJwk: PublicJwk;
}

// Above `most`, one verification takes milliseconds (security case D8).
const rsaBits = { made: 2048, least: 2048, most: 8192 };

// Private keys that are published somewhere: tokens signed by them prove nothing (security case O5).
const publishedKeys: ReadonlyMap<string, string> = new Map([
  ["NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs", "RFC 7517 appendix A.2 (RSA)"],
  ["cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s", "RFC 7517 appendix A.2 (EC)"],
  ["IsUn6_e04MaShXFIISMp4kG62LWzMIPy_MvSA5pJgX8", "RFC 7515 appendix A.2"],
  ["oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U", "RFC 7515 appendix A.3"],
  ["9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI", "RFC 7520 §3.4"],
  ["oGDmHqCJ7yzMkWEkrlZVHkvrHIyQwtlDmeq5ForUHeY", "the jwt.io RS256 sample"],
  ["19J8y7Zprt2-QKLjF2I5pVk0OELX6cY2AfaAv1LC_w8", "the jwt.io ES256 sample"],
]);

const generate = promisify(generateKeyPair);

/** Generates a key off the event loop: RSA with 2048 bits, or P-256. */
export async function newKey(algorithm: KeyAlgorithm, now: number): Promise<KeyRecord> {
  const { privateKey, publicKey } = await (algorithm === "RS256"
    ? generate("rsa", { modulusLength: rsaBits.made })
    : generate("ec", { namedCurve: "P-256" }));
  const privateJwk = JSON.stringify(privateKey.export({ format: "jwk" }));
  return { kid: thumbprint(publicKey), algorithm, privateJwk, createTime: now, retireTime: undefined };
}

/** Loads a stored key. Throws an Error that names the key and the rule it breaks. */
export function loadKey(record: KeyRecord): LoadedKey {
  const { kid, algorithm, createTime, retireTime } = record;
  const privateKey = parsePrivateKey(record);
  const publicKey = createPublicKey(privateKey);
  checkStrength(record, publicKey);
  if (thumbprint(publicKey) !== kid) throw keyError(record, "its kid is not the RFC 7638 thumbprint of the key");
  const publisher = publishedKeys.get(kid);
  if (publisher !== undefined) throw keyError(record, `its private key is published (${publisher})`);
  const publicJwk = { ...publicMembers(publicKey), use: "sig", alg: algorithm, kid } as const;
  return { kid, algorithm, privateKey, publicKey, createTime, retireTime, publicJwk };
}

function parsePrivateKey(record: KeyRecord): KeyObject {
  try {
    return createPrivateKey({ key: JSON.parse(record.privateJwk), format: "jwk" });
  } catch {
    // The cause is left out: the message of a JSON error quotes the text, which is the private key.
    throw keyError(record, "its text is not a private JWK");
  }
}

function checkStrength(record: KeyRecord, key: KeyObject): void {
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {};
  if (record.algorithm === "ES256") {
    if (namedCurve !== "prime256v1") throw keyError(record, "ES256 needs a key on the curve P-256");
  } else if (modulusLength < rsaBits.least || modulusLength > rsaBits.most) {
    // RFC 7518 §3.3: a key of size 2048 bits or larger MUST be used.
    throw keyError(record, `RS256 needs an RSA key of ${rsaBits.least} to ${rsaBits.most} bits`);
  }
}

// RFC 7638 §3.2: the required members only, in lexicographic order.
function thumbprint(key: KeyObject): string {
  const { kty, e, n, crv, x, y } = publicMembers(key);
  return hash("sha256", JSON.stringify(kty === "RSA" ? { e, kty, n } : { crv, kty, x, y }), "base64url");
}

function publicMembers(key: KeyObject): Omit<PublicJwk, "use" | "alg" | "kid"> {
  const { kty, n = "", e = "", crv = "", x = "", y = "" } = key.export({ format: "jwk" });
  return kty === "RSA" ? { kty, n, e } : { kty: "EC", crv, x, y };
}

function keyError(record: KeyRecord, rule: string): Error {
  return new Error(`signing key ${record.kid}: ${rule}`);
}
