/** The largest buffer that is kept between messages, in bytes. */
const keptBytes = 1024 * 1024;
const firstBytes = 16 * 1024;

/** A growing buffer for the wire types of protobuf, which is reused for one message after another. */
export class ByteBuffer {
  #bytes = Buffer.allocUnsafeSlow(firstBytes);
  #at = 0;

  /** Starts a message, with `room` bytes left free at its beginning. */
  start(room: number): void {
    this.#shrink();
    this.#at = 0;
    this.#reserve(room);
    this.#at = room;
  }

  /** Returns a copy of what was written, room included. */
  finish(): Buffer {
    const copy = Buffer.allocUnsafe(this.#at);
    this.#bytes.copy(copy, 0, 0, this.#at);
    this.#shrink();
    return copy;
  }

  /** Starts a length-delimited value. Pass the result to `close`. */
  open(): number {
    this.#reserve(1);
    return this.#at++;
  }

  /** Ends a value that `open` started, and writes its length in front of it. */
  close(start: number): void {
    this.#putLength(start, 1, this.#at - start - 1);
  }

  /** Writes bytes without their length. */
  raw(data: Uint8Array): void {
    this.#reserve(data.length);
    this.#bytes.set(data, this.#at);
    this.#at += data.length;
  }

  /** Writes bytes after their length. */
  bytes(data: Uint8Array): void {
    this.varint(data.length);
    this.raw(data);
  }

  /** Writes a text in UTF-8 after its length. An unpaired surrogate becomes U+FFFD. */
  text(value: string): void {
    const start = this.#at;
    const room = sizeOf(value.length);
    // A UTF-16 unit has at most three bytes in UTF-8.
    this.#reserve(room + 4 + value.length * 3);
    const length = this.#bytes.write(value, start + room, "utf8");
    this.#at = start + room + length;
    this.#putLength(start, room, length);
  }

  /** Throws if the value is out of range, as the next two do. */
  int32(value: number): void {
    if ((value | 0) !== value) throw new Error(`${value} is not an int32`);
    if (value >= 0) this.varint(value);
    else this.#bigVarint(BigInt.asUintN(64, BigInt(value)));
  }

  uint32(value: number): void {
    if (value >>> 0 !== value) throw new Error(`${value} is not a uint32`);
    this.varint(value);
  }

  int64(value: bigint | string): void {
    const small = Number(value);
    if (small >= 0 && small <= Number.MAX_SAFE_INTEGER) {
      this.varint(small);
      return;
    }
    const whole = BigInt(value);
    if (BigInt.asIntN(64, whole) !== whole) throw new Error(`${value} is not an int64`);
    this.#bigVarint(BigInt.asUintN(64, whole));
  }

  /** Writes an integer from 0 to 2^53. */
  varint(value: number): void {
    this.#reserve(8);
    this.#at = this.#putVarint(this.#at, value);
  }

  #shrink(): void {
    if (this.#bytes.length > keptBytes) this.#bytes = Buffer.allocUnsafeSlow(firstBytes);
  }

  #bigVarint(value: bigint): void {
    this.#reserve(10);
    let rest = value;
    for (; rest > 0x7fn; rest >>= 7n) this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80;
    this.#bytes[this.#at++] = Number(rest);
  }

  #putVarint(at: number, value: number): number {
    let [to, rest] = [at, value];
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) this.#bytes[to++] = (rest % 128) | 0x80;
    this.#bytes[to++] = rest;
    return to;
  }

  /** Writes a length into the room left for it, and moves what follows if the room is too small. */
  #putLength(start: number, room: number, length: number): void {
    const missing = sizeOf(length) - room;
    if (missing > 0) {
      this.#reserve(missing);
      this.#bytes.copyWithin(start + room + missing, start + room, this.#at);
      this.#at += missing;
    }
    this.#putVarint(start, length);
  }

  #reserve(count: number): void {
    const needed = this.#at + count;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(grown, 0, 0, this.#at);
    this.#bytes = grown;
  }
}

/** Returns the number of bytes of a varint. */
function sizeOf(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  return value < 0x1000_0000 ? 4 : 5;
}
