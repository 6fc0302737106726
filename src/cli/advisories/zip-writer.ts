// Writes zip archives (APPNOTE.TXT, 4.3) in parts. The entries come one by one, and only their names stay in memory.
import { crc32, deflateRawSync } from "node:zlib";

/** The limits beyond which the directory of an archive needs the records of Zip64. */
const [maxCount, maxOffset] = [0xffff, 0xffff_ffff];

/** The size from which entries are a part. */
const partBytes = 64 * 1024;

/** The time of every entry, 1 January 1980, so equal entries make equal archives. */
const noTime = 0x0021_0000;

/** A file of an archive. Its name is in UTF-8. */
export interface ZipEntry {
  readonly name: string;
  readonly content: string;
}

/** Yields the parts of an archive with these entries. The content of an entry must fit into memory. */
export async function* zipParts(entries: AsyncIterable<ZipEntry>): AsyncGenerator<Buffer> {
  const directory: Buffer[] = [];
  let [offset, unsent, unsentBytes]: [number, Buffer[], number] = [0, [], 0];
  for await (const { name, content } of entries) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const head = headOf(Buffer.from(name), bytes, packed.length);
    const local = Buffer.concat([number32(0x0403_4b50), head, Buffer.from(name), packed]);
    directory.push(directoryEntry(head, Buffer.from(name), offset));
    offset += local.length;
    unsent.push(local);
    unsentBytes += local.length;
    if (unsentBytes < partBytes) continue;
    yield Buffer.concat(unsent);
    [unsent, unsentBytes] = [[], 0];
  }
  yield Buffer.concat(unsent);
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  yield Buffer.concat(directory);
  yield endOf(directory.length, size, offset);
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
