// Tokens for devices without a browser: encrypted so that only the device that showed the code can read them.
import {
  createCipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { failedPrecondition, invalidField } from "../aip/errors.ts";

/** A token as it waits for a device. */
export interface EncryptedToken {
  /** Our public key, base64url: made for this token alone, its private half is forgotten. */
  readonly publicKey: string;
  /** Nonce, ciphertext and tag. */
  readonly bytes: Buffer;
}

/** Encrypts a token for the holder of an X25519 key: AES-256-GCM under the shared secret as it is. */
export function encryptFor(code: string, token: string): EncryptedToken {
  const { publicKey, privateKey } = generateKeyPairSync("x25519");
  const key = sharedSecret(code, privateKey);
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  const content = Buffer.concat([cipher.update(token), cipher.final()]);
  return {
    publicKey: String(publicKey.export({ format: "jwk" }).x),
    bytes: Buffer.concat([nonce, content, cipher.getAuthTag()]),
  };
}

/** Security case X7: a code is good for one sign-in. */
export function codeUsed() {
  return failedPrecondition("CODE_USED", "the code of the device was used already; let it show another one");
}

function sharedSecret(code: string, privateKey: KeyObject): Buffer {
  try {
    const publicKey = createPublicKey({ key: { kty: "OKP", crv: "X25519", x: code }, format: "jwk" });
    return diffieHellman({ privateKey, publicKey });
  } catch {
    // RFC 7748 §6.1: a point of small order leads to a secret that everybody knows; OpenSSL refuses it.
    throw invalidField("headless_code", "must be an X25519 public key in base64url");
  }
}
