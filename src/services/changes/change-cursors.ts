// How places in the change log are named. Their numbers would tell everybody how much all others change.
import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";
import { newEncryptedTokens } from "../../aip/encrypted-token.ts";
import type { LogPosition } from "../../storage/change-log/history.ts";

const idAlgorithm = "aes-128-ecb";
const blockBytes = 16;

/** What a text names. */
export interface NamedPlace extends LogPosition {
  /** Whether it names a change, which must then be one of the organization, or the end of what there was. */
  readonly isChange: boolean;
}

/** Names places of the log, by keys of the installation that nobody else has. */
export interface ChangePlaces {
  /** The id of a change: the same one each time. One block of AES, so that ids are in no order. */
  id(place: LogPosition): string;
  /**
   * The name of a place for those who follow an organization: another one each time. The same one twice would tell that nobody
   * else has changed anything meanwhile.
   */
  seal(place: LogPosition, organization: string): string;
  /** What an id or the name of a place for an organization stands for; undefined for anything else. */
  parse(text: string, organization: string): NamedPlace | undefined;
}

/** Makes the names; `secret` is asked for with the first of them. */
export function changePlaces(secret: () => Uint8Array): ChangePlaces {
  const names = newEncryptedTokens(secret, "change-place");
  let made: Buffer | undefined;
  function idKey(): Buffer {
    // The label keeps an id from passing for anything else that is made with the same secret.
    made ??= createHmac("sha256", secret()).update("change-id\0").digest().subarray(0, blockBytes);
    return made;
  }

  return {
    id(place) {
      return createCipheriv(idAlgorithm, idKey(), null).setAutoPadding(false).update(blockOf(place)).toString("hex");
    },
    seal: (place, organization) => names.format(blockOf(place), organization),
    parse(text, organization) {
      const isChange = /^[0-9a-f]{32}$/.test(text);
      const block = isChange
        ? createDecipheriv(idAlgorithm, idKey(), null).setAutoPadding(false).update(Buffer.from(text, "hex"))
        : names.parse(text, organization);
      const place = block && placeOf(block);
      return place && { ...place, isChange };
    },
  };
}

function blockOf({ sequence, time }: LogPosition): Buffer {
  const block = Buffer.alloc(blockBytes);
  block.writeBigUInt64BE(BigInt(time), 0);
  block.writeBigUInt64BE(BigInt(sequence), 8);
  return block;
}

/** Undefined when the block is of no place, as what was made with another key. */
function placeOf(block: Buffer): LogPosition | undefined {
  if (block.length !== blockBytes) return undefined;
  const [time, sequence] = [Number(block.readBigUInt64BE(0)), Number(block.readBigUInt64BE(8))];
  return Number.isSafeInteger(sequence) && time < 2 ** 48 ? { sequence, time } : undefined;
}
