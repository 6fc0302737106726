// Tokens whose content clients must neither read nor change, such as positions in the change log.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

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
    format(body, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key(), nonce, { authTagLength: tagBytes });
      const encrypted = Buffer.concat([cipher.setAAD(Buffer.from(context)).update(body), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString("base64url");
    },
    parse(text, context) {
      const bytes = Buffer.from(text, "base64url");
      if (bytes.length < nonceBytes + tagBytes || bytes.toString("base64url") !== text) return undefined;
      const decipher = createDecipheriv(algorithm, key(), bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]);
      } catch {
        return undefined;
      }
    },
  };
}
