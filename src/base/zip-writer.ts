// Writes zip archives (APPNOTE.TXT, 4.3) in parts. The entries come one by one, and only their names stay in memory.
import { promisify } from "node:util";
import { crc32, deflateRaw, deflateRawSync } from "node:zlib";

/** The limits beyond which the directory of an archive needs the records of Zip64. */
const [maxCount, maxOffset] = [0xffff, 0xffff_ffff];

/** The size from which entries are a part. Longer content is compressed in another thread. */
const partBytes = 64 * 1024;

const deflateElsewhere = promisify(deflateRaw);

/** The time of every entry, 1 January 1980, so equal entries make equal archives. */
const noTime = 0x0021_0000;

/** A file of an archive. Its name is in UTF-8. */
export interface ZipEntry {
  readonly name: string;
  readonly content: string;
}

/** Yields the parts of an archive with these entries. The content of an entry must fit into memory. */
export async function* zipParts(entries: AsyncIterable<ZipEntry>): AsyncGenerator<Buffer> {
  const unsent = newChunks();
  const directory = newChunks();
  let [count, offset] = [0, 0];
  for await (const { name, content } of entries) {
    const [nameBytes, bytes] = [Buffer.from(name), Buffer.from(content)];
    const packed = bytes.length < partBytes ? deflateRawSync(bytes) : await deflateElsewhere(bytes);
    const head = headOf(nameBytes, bytes, packed.length);
    directory.add(directoryEntry(head, nameBytes, offset));
    const local = [number32(0x0403_4b50), head, nameBytes, packed];
    for (const part of local) unsent.add(part);
    offset += local.reduce((sum, { length }) => sum + length, 0);
    count++;
    yield* unsent.take();
  }
  yield* unsent.takeAll();
  const { size } = directory;
  yield* directory.takeAll();
  yield endOf(count, size, offset);
}

/** Joins short pieces into parts of at least `partBytes`. A piece of its own would need more memory than its bytes. */
function newChunks() {
  const parts: Buffer[] = [];
  let [pieces, pieceBytes, size]: [Buffer[], number, number] = [[], 0, 0];
  const join = () => {
    if (pieceBytes > 0) parts.push(Buffer.concat(pieces));
    [pieces, pieceBytes] = [[], 0];
  };
  return {
    /** The size of all pieces that were added. */
    get size() {
      return size;
    },
    add(piece: Buffer): void {
      pieces.push(piece);
      pieceBytes += piece.length;
      size += piece.length;
      if (pieceBytes >= partBytes) join();
    },
    /** Removes and returns the parts that are complete. */
    take: () => parts.splice(0),
    /** Removes and returns everything. */
    takeAll() {
      join();
      return parts.splice(0);
    },
  };
}

/** Returns the fields that an entry and its place in the directory share. */
function headOf(name: Buffer, content: Buffer, packedBytes: number): Buffer {
  const head = Buffer.alloc(26);
  // Version 4.5, names in UTF-8, deflated.
  head.writeUInt16LE(45, 0);
  head.writeUInt16LE(0x0800, 2);
  head.writeUInt16LE(8, 4);
  head.writeUInt32LE(noTime, 6);
  head.writeUInt32LE(crc32(content), 10);
  head.writeUInt32LE(packedBytes, 14);
  head.writeUInt32LE(content.length, 18);
  head.writeUInt16LE(name.length, 22);
  return head;
}

function directoryEntry(localHead: Buffer, name: Buffer, offset: number): Buffer {
  const isFar = offset >= maxOffset;
  // The extra field of Zip64 has the offset that 32 bits do not hold.
  const extra = isFar ? Buffer.concat([number16(1), number16(8), number64(offset)]) : Buffer.alloc(0);
  const head = Buffer.from(localHead);
  head.writeUInt16LE(extra.length, 24);
  const rest = Buffer.alloc(14);
  rest.writeUInt32LE(isFar ? maxOffset : offset, 10);
  return Buffer.concat([number32(0x0201_4b50), number16(45), head, rest, name, extra]);
}

function endOf(count: number, size: number, offset: number): Buffer {
  const needsZip64 = count >= maxCount || size >= maxOffset || offset >= maxOffset;
  const end = Buffer.concat([
    number32(0x0605_4b50),
    number32(0),
    ...Array.from({ length: 2 }, () => number16(Math.min(count, maxCount))),
    number32(Math.min(size, maxOffset)),
    number32(Math.min(offset, maxOffset)),
    number16(0),
  ]);
  return needsZip64 ? Buffer.concat([endOfZip64(count, size, offset), end]) : end;
}

function endOfZip64(count: number, size: number, offset: number): Buffer {
  return Buffer.concat([
    number32(0x0606_4b50),
    number64(44),
    number16(45),
    number16(45),
    number32(0),
    number32(0),
    number64(count),
    number64(count),
    number64(size),
    number64(offset),
    // The offset of that record, for readers that start at the end.
    number32(0x0706_4b50),
    number32(0),
    number64(offset + size),
    number32(1),
  ]);
}

function number16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function number32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function number64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
