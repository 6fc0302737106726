// The ids of changes. Their numbers in the log would tell everybody how much all others change.
import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";

const algorithm = "aes-128-ecb";
const keyBytes = 16;

/** Names changes, and reads their names. */
export interface ChangeIds {
  /** The id of a change: the same one each time. */
  format(sequence: number): string;
  /** The number of the change that has the id; undefined for what was not made with the key. */
  parse(id: string): number | undefined;
}

/** Makes ids by a key of the installation: the number and as many zeros are one block of AES, which nobody else can make or read. */
export function newChangeIds(secret: () => Uint8Array): ChangeIds {
  let made: Buffer | undefined;
  function key(): Buffer {
    // The label keeps an id from passing for anything else that is made with the same secret.
    made ??= createHmac("sha256", secret()).update("change-id\0").digest().subarray(0, keyBytes);
    return made;
  }
  return {
    format(sequence) {
      const block = Buffer.alloc(keyBytes);
      block.writeBigUInt64BE(BigInt(sequence), 8);
      return createCipheriv(algorithm, key(), null).setAutoPadding(false).update(block).toString("hex");
    },
    parse(id) {
      if (!/^[0-9a-f]{32}$/.test(id)) return undefined;
      const block = createDecipheriv(algorithm, key(), null).setAutoPadding(false).update(Buffer.from(id, "hex"));
      return block.readBigUInt64BE(0) === 0n ? Number(block.readBigUInt64BE(8)) : undefined;
    },
  };
}
