// Tokens whose content clients must neither read nor change, such as positions in the change log.
import { createHmac } from "node:crypto";
import { decryptAead, encryptAead, packCiphertext, unpackCiphertext } from "../base/aead.ts";

/**
 * Encrypts and decrypts tokens with a key of the installation. A token is valid only in the context that it was created
 * for.
 */
export interface EncryptedTokens {
  /** Returns a token. The text differs each time. */
  format(body: Uint8Array, context: string): string;
  /** Returns the body, or undefined if the text was not created with this key and context. */
  parse(text: string, context: string): Buffer | undefined;
}

/**
 * Creates an encryptor. `secret` is called with the first token. The label separates tokens of one purpose from all
 * others.
 */
export function newEncryptedTokens(secret: () => Uint8Array, label: string): EncryptedTokens {
  let made: Buffer | undefined;
  function key(): Buffer {
    made ??= createHmac("sha256", secret()).update(`${label}\0`).digest();
    return made;
  }
  return {
    format: (body, context) => packCiphertext(encryptAead(key(), body, context)).toString("base64url"),
    parse(text, context) {
      const bytes = Buffer.from(text, "base64url");
      if (bytes.toString("base64url") !== text) return undefined;
      try {
        return decryptAead(key(), unpackCiphertext(bytes), context);
      } catch {
        return undefined;
      }
    },
  };
}
