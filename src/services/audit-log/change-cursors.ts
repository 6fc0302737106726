// Cursors into the change log. They are encrypted: sequence numbers would reveal how much other organizations change.
import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";
import { newEncryptedTokens } from "../../aip/encrypted-token.ts";
import type { LogPosition } from "../../storage/change-log/history.ts";

const idAlgorithm = "aes-128-ecb";
const blockBytes = 16;

/** A parsed cursor. */
export interface ParsedCursor extends LogPosition {
  /** Whether the cursor is the id of a change, which must be one of the organization; otherwise it is a position. */
  readonly isChange: boolean;
}

/** Formats and parses cursors, with keys of the installation. */
export interface ChangeCursors {
  /** Returns the id of a change, always the same one. It is one block of AES, so the order of ids reveals nothing. */
  id(position: LogPosition): string;
  /**
   * Formats a position for callers who follow an organization, differently each time. Equal cursors would reveal that no other
   * organization has changed anything in between.
   */
  format(position: LogPosition, organization: string): string;
  /** Parses an id or a position of an organization; undefined for anything else. */
  parse(text: string, organization: string): ParsedCursor | undefined;
}

/** Makes the cursors. `secret` is called on first use. */
export function changeCursors(secret: () => Uint8Array): ChangeCursors {
  const positions = newEncryptedTokens(secret, "change-place");
  let made: Buffer | undefined;
  function idKey(): Buffer {
    // The label separates this key from others derived from the same secret.
    made ??= createHmac("sha256", secret()).update("change-id\0").digest().subarray(0, blockBytes);
    return made;
  }

  return {
    id(position) {
      return createCipheriv(idAlgorithm, idKey(), null).setAutoPadding(false).update(blockOf(position)).toString("hex");
    },
    format: (position, organization) => positions.format(blockOf(position), organization),
    parse(text, organization) {
      const isChange = /^[0-9a-f]{32}$/.test(text);
      const block = isChange
        ? createDecipheriv(idAlgorithm, idKey(), null).setAutoPadding(false).update(Buffer.from(text, "hex"))
        : positions.parse(text, organization);
      const position = block && positionOf(block);
      return position && { ...position, isChange };
    },
  };
}

function blockOf({ sequence, time }: LogPosition): Buffer {
  const block = Buffer.alloc(blockBytes);
  block.writeBigUInt64BE(BigInt(time), 0);
  block.writeBigUInt64BE(BigInt(sequence), 8);
  return block;
}

/** Reads a position from a block; undefined if it is not one, such as after decryption with another key. */
function positionOf(block: Buffer): LogPosition | undefined {
  if (block.length !== blockBytes) return undefined;
  const [time, sequence] = [Number(block.readBigUInt64BE(0)), Number(block.readBigUInt64BE(8))];
  return Number.isSafeInteger(sequence) && time < 2 ** 48 ? { sequence, time } : undefined;
}
