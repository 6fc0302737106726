// Tokens for devices without a browser, encrypted for the device that showed the code.
import { createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from "node:crypto";
import { failedPrecondition, invalidField } from "../aip/errors.ts";
import { encryptAead } from "../base/aead.ts";

/** A token that waits for a device. */
export interface EncryptedToken {
  /** Our ephemeral public key, base64url. Its private key is discarded. */
  readonly publicKey: string;
  /** Nonce, ciphertext and tag. */
  readonly bytes: Buffer;
}

/** Encrypts a token for the holder of an X25519 key: AES-256-GCM with the shared secret as the key. */
export function encryptFor(code: string, token: string): EncryptedToken {
  const { publicKey, privateKey } = generateKeyPairSync("x25519");
  const key = sharedSecret(code, privateKey);
  const { nonce, body, tag } = encryptAead(key, token);
  return {
    publicKey: String(publicKey.export({ format: "jwk" }).x),
    bytes: Buffer.concat([nonce, body, tag]),
  };
}

/** Security case X7: a code is valid for one sign-in. */
export function codeUsed() {
  return failedPrecondition("CODE_USED", "the code of the device was used already; let it show another one");
}

function sharedSecret(code: string, privateKey: KeyObject): Buffer {
  try {
    const publicKey = createPublicKey({ key: { kty: "OKP", crv: "X25519", x: code }, format: "jwk" });
    return diffieHellman({ privateKey, publicKey });
  } catch {
    // RFC 7748 §6.1: a point of small order leads to a known secret. OpenSSL rejects it.
    throw invalidField("headless_code", "must be an X25519 public key in base64url");
  }
}
