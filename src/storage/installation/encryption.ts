// Secrets at rest. What is sealed can be read with the key alone, and only where it was put: AES-256-GCM (NIST SP 800-38D)
// over the text, with the place as associated data.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";

/** Where a secret stands. Nothing sealed for one place opens at another. */
export interface ColumnRef {
  readonly kind: string;
  readonly uid: string;
  readonly column: string;
}

/** Seals and opens secrets. */
export interface Encryption {
  /** What new seals are made with; undefined when there is no key. */
  readonly keyId: string | undefined;
  /** All of its keys, that for new seals first. */
  readonly keyIds: readonly string[];
  /** The text as it is to be stored: sealed, or as it is when there is no key. */
  encrypt(place: ColumnRef, text: string): string;
  /** The text that was stored; what was stored before there was a key comes as it is. Throws SealError. */
  decrypt(place: ColumnRef, stored: string): string;
  /** Whether the text is stored as `seal` would store it now: after a change of keys it is not. */
  usesCurrentKey(stored: string): boolean;
}

/** Seals whose keys can be replaced. */
export interface ReplaceableEncryption extends Encryption {
  /** Seals and opens with the keys of others from now on. */
  replace(seals: Encryption): void;
}

/** A sealed secret that cannot be opened. The message names the place and the key, never the secret. */
export class DecryptionError extends Error {
  override readonly name = "SealError";
}

const prefix = "gatehouse-sealed:1:";
const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** Makes seals by keys of 32 bytes: the first one seals, all of them open. */
export function newEncryption(keys: readonly Buffer[]): Encryption {
  const known = new Map(keys.map((key) => [keyIdOf(key), key]));
  const first = keys[0];
  const keyId = first && keyIdOf(first);
  return {
    keyId,
    keyIds: [...known.keys()],
    encrypt: (place, text) =>
      first ? `${prefix}${keyId}:${encrypt(first, place, text).toString("base64url")}` : checkUnsealed(text),
    decrypt(place, stored) {
      if (!stored.startsWith(prefix)) return stored;
      const [id = "", box = ""] = stored.slice(prefix.length).split(":");
      const key = known.get(id);
      if (!key)
        throw new DecryptionError(`${nameOf(place)} is sealed with the key ${id}, which secrets-key does not have`);
      return decrypt(key, place, Buffer.from(box, "base64url"));
    },
    usesCurrentKey: (stored) => (keyId ? stored.startsWith(`${prefix}${keyId}:`) : !stored.startsWith(prefix)),
  };
}

/** Seals that begin with the keys of these. */
export function replaceable(seals: Encryption): ReplaceableEncryption {
  let present = seals;
  return {
    get keyId() {
      return present.keyId;
    },
    get keyIds() {
      return present.keyIds;
    },
    encrypt: (place, text) => present.encrypt(place, text),
    decrypt: (place, stored) => present.decrypt(place, stored),
    usesCurrentKey: (stored) => present.usesCurrentKey(stored),
    replace(next) {
      present = next;
    },
  };
}

/** Names a key without giving it away. */
function keyIdOf(key: Buffer): string {
  return createHmac("sha256", key).update("gatehouse secrets key id").digest("hex").slice(0, 16);
}

function encrypt(key: Buffer, place: ColumnRef, text: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(bytesOf(place));
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

function decrypt(key: Buffer, place: ColumnRef, box: Buffer): string {
  const nonce = box.subarray(0, nonceBytes);
  const tag = box.subarray(nonceBytes, nonceBytes + tagBytes);
  try {
    const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
    decipher.setAAD(bytesOf(place)).setAuthTag(tag);
    return decipher.update(box.subarray(nonceBytes + tagBytes), undefined, "utf8") + decipher.final("utf8");
  } catch {
    throw new DecryptionError(`${nameOf(place)} was altered, or sealed for another place`);
  }
}

/** A text that looks sealed would be taken for it when it is read. */
function checkUnsealed(text: string): string {
  if (text.startsWith(prefix)) throw new DecryptionError("a secret must not look like a sealed one");
  return text;
}

/** No two places have the same bytes. */
function bytesOf({ kind, uid, column }: ColumnRef): Buffer {
  return Buffer.from(JSON.stringify([kind, uid, column]));
}

function nameOf({ kind, uid, column }: ColumnRef): string {
  return `${kind} ${uid}: ${column}`;
}
