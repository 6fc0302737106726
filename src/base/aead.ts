// Authenticated encryption: AES-256-GCM (NIST SP 800-38D) with a random nonce.
import { createCipheriv, createDecipheriv } from "node:crypto";
import { randomBytes } from "./random.ts";

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** An encrypted text, in parts. */
export interface Ciphertext {
  /** 12 random bytes. */
  readonly nonce: Buffer;
  /** The authentication tag, 16 bytes. */
  readonly tag: Buffer;
  /** As long as the plaintext. */
  readonly body: Buffer;
}

/** Encrypts with a key of 32 bytes. Decryption needs the same associated data. */
export function encryptAead(key: Uint8Array, plaintext: Uint8Array | string, associatedData = ""): Ciphertext {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(associatedData));
  const body = Buffer.concat([cipher.update(Buffer.from(plaintext as string)), cipher.final()]);
  return { nonce, tag: cipher.getAuthTag(), body };
}

/** Decrypts. Throws if the key or the associated data differ, or if the ciphertext was altered. */
export function decryptAead(key: Uint8Array, { nonce, tag, body }: Ciphertext, associatedData = ""): Buffer {
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(associatedData)).setAuthTag(tag);
  return Buffer.concat([decipher.update(body), decipher.final()]);
}

/** Joins the parts of a ciphertext: nonce, tag, body. */
export function packCiphertext({ nonce, tag, body }: Ciphertext): Buffer {
  return Buffer.concat([nonce, tag, body]);
}

/** Splits what `packCiphertext` joined. Parts of a text that is too short are too short as well, and fail to decrypt. */
export function unpackCiphertext(packed: Buffer): Ciphertext {
  const bodyStart = nonceBytes + tagBytes;
  return {
    nonce: packed.subarray(0, nonceBytes),
    tag: packed.subarray(nonceBytes, bodyStart),
    body: packed.subarray(bodyStart),
  };
}
