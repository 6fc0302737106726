/** How much memory is kept between messages, in bytes. */
const keptBytes = 1024 * 1024;
const firstBytes = 16 * 1024;

/** Takes the bytes of one message after the other: the wire types of protobuf, in memory that is used again. */
export class ByteSink {
  #bytes = Buffer.allocUnsafeSlow(firstBytes);
  #at = 0;

  /** Forgets what was written, and leaves room at the beginning. */
  start(room: number): void {
    this.#shrink();
    this.#at = 0;
    this.#reserve(room);
    this.#at = room;
  }

  /** A copy of what was written, room included. */
  finish(): Buffer {
    const copy = Buffer.allocUnsafe(this.#at);
    this.#bytes.copy(copy, 0, 0, this.#at);
    this.#shrink();
    return copy;
  }

  /** Begins something whose length stands before it; `close` takes what this answers. */
  open(): number {
    this.#reserve(1);
    return this.#at++;
  }

  /** Ends what `open` began: its length is put where that left room. */
  close(start: number): void {
    this.#putLength(start, 1, this.#at - start - 1);
  }

  /** Bytes without their length. */
  raw(data: Uint8Array): void {
    this.#reserve(data.length);
    this.#bytes.set(data, this.#at);
    this.#at += data.length;
  }

  /** Bytes behind their length. */
  bytes(data: Uint8Array): void {
    this.varint(data.length);
    this.raw(data);
  }

  /** A text in UTF-8 behind its length; half a surrogate pair becomes U+FFFD. */
  text(value: string): void {
    const start = this.#at;
    const room = sizeOf(value.length);
    // A unit of UTF-16 has three bytes of UTF-8 at most.
    this.#reserve(room + 4 + value.length * 3);
    const length = this.#bytes.write(value, start + room, "utf8");
    this.#at = start + room + length;
    this.#putLength(start, room, length);
  }

  /** Throws when the value is none of the type, as do the next two. */
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

  /** A whole number from 0 up to 2^53. */
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

  /** Puts a length where room was left for it; what comes after moves on when that was too little. */
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

/** How many bytes a varint has. */
function sizeOf(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  return value < 0x1000_0000 ? 4 : 5;
}
