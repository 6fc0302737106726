// Zip archives, whether they say the truth about what they hold or not.
import { constants, crc32, deflateRawSync } from "node:zlib";

/** A file of an archive; `claimed` is the size that the archive says it has. */
export type Zipped = { readonly name: string } & (
  | { readonly content: Buffer; readonly claimed?: number }
  /** An entry too large to hold: its size is only claimed, and its checksum is wrong. */
  | { readonly packed: Buffer; readonly claimed: number }
);

/** So many MiB of zeros, compressed: one MiB is compressed, and its block repeated. */
export function packedZeros(mebibytes: number): Buffer {
  const block = deflateRawSync(Buffer.alloc(2 ** 20), { finishFlush: constants.Z_FULL_FLUSH });
  // RFC 1951 §3.2.6: an empty block, which is the last.
  return Buffer.concat([...Array<Buffer>(mebibytes).fill(block), Buffer.from([3, 0])]);
}

/** Makes an archive (APPNOTE.TXT, 4.3). */
export function zip(files: readonly Zipped[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const file of files) {
    const { name } = file;
    const { packed, checksum, claimed } =
      "packed" in file
        ? { ...file, checksum: 0 }
        : {
            packed: deflateRawSync(file.content),
            checksum: crc32(file.content),
            claimed: file.claimed ?? file.content.length,
          };
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(checksum, 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(claimed, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = [Buffer.from("PK\x03\x04", "latin1"), common, Buffer.from(name), packed];
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.from("PK\x01\x02\x14\x00", "latin1"), common, tail, Buffer.from(name));
    for (const part of local) {
      parts.push(part);
      offset += part.length;
    }
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, end]);
}
