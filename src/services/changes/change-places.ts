// How places in the change log are named. Their numbers would tell everybody how much all others change.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";

const idAlgorithm = "aes-128-ecb";
const sealAlgorithm = "aes-256-gcm";
const blockBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;

/** One change in the log. After a backup was put back, another one of the same number has another time. */
export interface ChangePlace {
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** What a text names. */
export interface NamedPlace extends ChangePlace {
  /** Whether it names a change, which must then be one of the organization, or the end of what there was. */
  readonly isChange: boolean;
}

/** Before the first change. */
export const beginning: ChangePlace = { sequence: 0, time: 0 };

/** Names places of the log, by keys of the installation that nobody else has. */
export interface ChangePlaces {
  /** The id of a change: the same one each time. One block of AES, so that ids are in no order. */
  id(place: ChangePlace): string;
  /**
   * The name of a place for those who follow an organization: another one each time. The same one twice would tell that nobody
   * else has changed anything meanwhile.
   */
  seal(place: ChangePlace, organization: string): string;
  /** What an id or the name of a place for an organization stands for; undefined for anything else. */
  parse(text: string, organization: string): NamedPlace | undefined;
}

/** Makes the names; `secret` is asked for with the first of them. */
export function changePlaces(secret: () => Uint8Array): ChangePlaces {
  // The labels keep a name from passing for anything else that is made with the same secret.
  const keyOf = (label: string) => createHmac("sha256", secret()).update(`${label}\0`).digest();
  let made: { readonly ofIds: Buffer; readonly ofSeals: Buffer } | undefined;
  function keys() {
    made ??= { ofIds: keyOf("change-id").subarray(0, blockBytes), ofSeals: keyOf("change-place") };
    return made;
  }

  function open(box: Buffer, organization: string): ChangePlace | undefined {
    const nonce = box.subarray(0, nonceBytes);
    const decipher = createDecipheriv(sealAlgorithm, keys().ofSeals, nonce, { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(organization)).setAuthTag(box.subarray(nonceBytes, nonceBytes + tagBytes));
    try {
      return placeOf(Buffer.concat([decipher.update(box.subarray(nonceBytes + tagBytes)), decipher.final()]));
    } catch {
      return undefined;
    }
  }

  return {
    id(place) {
      return createCipheriv(idAlgorithm, keys().ofIds, null)
        .setAutoPadding(false)
        .update(blockOf(place))
        .toString("hex");
    },
    seal(place, organization) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(sealAlgorithm, keys().ofSeals, nonce, { authTagLength: tagBytes });
      const body = Buffer.concat([cipher.setAAD(Buffer.from(organization)).update(blockOf(place)), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url");
    },
    parse(text, organization) {
      const isChange = /^[0-9a-f]{32}$/.test(text);
      const bytes = Buffer.from(text, isChange ? "hex" : "base64url");
      if (isChange) {
        const block = createDecipheriv(idAlgorithm, keys().ofIds, null).setAutoPadding(false).update(bytes);
        const place = placeOf(block);
        return place && { ...place, isChange };
      }
      if (bytes.length !== nonceBytes + tagBytes + blockBytes || bytes.toString("base64url") !== text) return undefined;
      const place = open(bytes, organization);
      return place && { ...place, isChange };
    },
  };
}

function blockOf({ sequence, time }: ChangePlace): Buffer {
  const block = Buffer.alloc(blockBytes);
  block.writeBigUInt64BE(BigInt(time), 0);
  block.writeBigUInt64BE(BigInt(sequence), 8);
  return block;
}

/** Undefined when the block is of no place, as what was made with another key. */
function placeOf(block: Buffer): ChangePlace | undefined {
  const [time, sequence] = [Number(block.readBigUInt64BE(0)), Number(block.readBigUInt64BE(8))];
  return Number.isSafeInteger(sequence) && time < 2 ** 48 ? { sequence, time } : undefined;
}
