// Encryption at rest: AES-256-GCM. Table, row and column are the associated data, so a ciphertext copied to another column does
// not decrypt.
import { createHmac } from "node:crypto";
import { decryptAead, encryptAead, packCiphertext, unpackCiphertext } from "../../base/aead.ts";

/** The column of one row. A ciphertext decrypts only in the column that it was encrypted for. */
export interface ColumnRef {
  /** The name of the table. */
  readonly kind: string;
  readonly uid: string;
  readonly column: string;
}

/** Encrypts and decrypts secrets with a key ring. */
export interface Encryption {
  /** The id of the key that encrypts; undefined if there is no key. */
  readonly keyId: string | undefined;
  /** The ids of all keys, the encrypting one first. */
  readonly keyIds: readonly string[];
  /** Returns the text to store: encrypted, or unencrypted if there is no key. */
  encrypt(ref: ColumnRef, text: string): string;
  /** Decrypts a stored text. Returns an unencrypted one as it is. Throws DecryptionError. */
  decrypt(ref: ColumnRef, stored: string): string;
  /** Returns whether `encrypt` would use the same key now. After a change of keys, it would not. */
  usesCurrentKey(stored: string): boolean;
}

/** Encryption whose keys can be replaced while it is in use. */
export interface ReplaceableEncryption extends Encryption {
  /** Uses the keys of another encryption from now on. */
  replace(next: Encryption): void;
}

/** A stored secret that does not decrypt. The message names the column and the key, never the secret. */
export class DecryptionError extends Error {
  override readonly name = "DecryptionError";
}

const prefix = "gatehouse-sealed:1:";

/** Creates an encryption from keys of 32 bytes: the first one encrypts, all of them decrypt. */
export function newEncryption(keys: readonly Buffer[]): Encryption {
  const known = new Map(keys.map((key) => [keyIdOf(key), key]));
  const first = keys[0];
  const keyId = first && keyIdOf(first);
  return {
    keyId,
    keyIds: [...known.keys()],
    encrypt(ref, text) {
      if (!first) return requireUnencrypted(text);
      const packed = packCiphertext(encryptAead(first, text, associatedData(ref)));
      return `${prefix}${keyId}:${packed.toString("base64url")}`;
    },
    decrypt(ref, stored) {
      if (!stored.startsWith(prefix)) return stored;
      const [id = "", packed = ""] = stored.slice(prefix.length).split(":");
      const key = known.get(id);
      if (!key)
        throw new DecryptionError(`${nameOf(ref)} is encrypted with the key ${id}, which secrets-key does not have`);
      return decryptWith(key, ref, Buffer.from(packed, "base64url"));
    },
    usesCurrentKey: (stored) => (keyId ? stored.startsWith(`${prefix}${keyId}:`) : !stored.startsWith(prefix)),
  };
}

/** Returns an encryption that uses the keys of this one until they are replaced. */
export function replaceable(initial: Encryption): ReplaceableEncryption {
  let current = initial;
  return {
    get keyId() {
      return current.keyId;
    },
    get keyIds() {
      return current.keyIds;
    },
    encrypt: (ref, text) => current.encrypt(ref, text),
    decrypt: (ref, stored) => current.decrypt(ref, stored),
    usesCurrentKey: (stored) => current.usesCurrentKey(stored),
    replace(next) {
      current = next;
    },
  };
}

/** Returns an id that does not reveal the key. */
function keyIdOf(key: Buffer): string {
  return createHmac("sha256", key).update("gatehouse secrets key id").digest("hex").slice(0, 16);
}

function decryptWith(key: Buffer, ref: ColumnRef, packed: Buffer): string {
  try {
    return decryptAead(key, unpackCiphertext(packed), associatedData(ref)).toString("utf8");
  } catch {
    throw new DecryptionError(`${nameOf(ref)} was altered, or encrypted for another column`);
  }
}

/** An unencrypted text with the prefix would be decrypted when it is read. */
function requireUnencrypted(text: string): string {
  if (text.startsWith(prefix)) throw new DecryptionError(`a secret must not start with ${prefix}`);
  return text;
}

/** JSON, because different columns must never have the same data. */
function associatedData({ kind, uid, column }: ColumnRef): string {
  return JSON.stringify([kind, uid, column]);
}

function nameOf({ kind, uid, column }: ColumnRef): string {
  return `${kind} ${uid}: ${column}`;
}
