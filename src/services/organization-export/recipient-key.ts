// Encryption for a recipient whose public key the caller gives (RFC 7516).
import { createHash, createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from "node:crypto";
import { CompactEncrypt } from "jose";
import { invalidField } from "../../aip/errors.ts";

/** The public key of a recipient. */
export interface Recipient {
  /** SHA-256 of the DER of the key, in hexadecimal. */
  readonly fingerprint: string;
  /** The algorithm that encrypts the content's key. */
  readonly algorithm: string;
  /** Returns the JSON of the value as a JWE in compact form. */
  encrypt(value: object): Promise<string>;
}

/** The `typ` of the header, so no other JWE passes for one of these. */
export const clientSecretType = "gatehouse-client-secret+jwe";

const rsaBits = { min: 2048, max: 8192 } as const;
const curves: ReadonlySet<string | undefined> = new Set(["prime256v1", "secp384r1", "secp521r1"]);

/** Parses a public key in PEM. Throws INVALID_ARGUMENT with the field `recipient_key`. */
export function parseRecipientKey(pem: string): Recipient {
  const key = publicKeyOf(pem);
  const algorithm = algorithmOf(key);
  const fingerprint = createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("hex");
  const header = { alg: algorithm, enc: "A256GCM", typ: clientSecretType, kid: fingerprint };
  return {
    fingerprint,
    algorithm,
    encrypt: (value) => new CompactEncrypt(Buffer.from(JSON.stringify(value))).setProtectedHeader(header).encrypt(key),
  };
}

function publicKeyOf(pem: string): KeyObject {
  // Node would take the public half of a private key, which should not have been sent at all.
  if (!pem.trimStart().startsWith("-----BEGIN PUBLIC KEY-----"))
    throw invalidField("recipient_key", "must be a public key in PEM, which begins with -----BEGIN PUBLIC KEY-----");
  try {
    return createPublicKey({ key: pem, format: "pem" });
  } catch {
    throw invalidField("recipient_key", "is not a valid public key in PEM");
  }
}

function algorithmOf(key: KeyObject): string {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === "rsa") {
    const bits = details?.modulusLength ?? 0;
    if (bits >= rsaBits.min && bits <= rsaBits.max) return "RSA-OAEP-256";
    throw invalidField("recipient_key", `is an RSA key of ${bits} bits; it must have ${rsaBits.min} to ${rsaBits.max}`);
  }
  if (type === "x25519") requireAgreement(key);
  if (type === "x25519" || (type === "ec" && curves.has(details?.namedCurve))) return "ECDH-ES+A256KW";
  throw invalidField("recipient_key", "must be an RSA, P-256, P-384, P-521 or X25519 key");
}

/** RFC 7748 §6.1: a public key of small order agrees on zero with everybody, so what it encrypts is readable by all. */
function requireAgreement(publicKey: KeyObject): void {
  try {
    diffieHellman({ privateKey: generateKeyPairSync("x25519").privateKey, publicKey });
  } catch {
    throw invalidField("recipient_key", "is an X25519 key of small order");
  }
}
