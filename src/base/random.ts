// Prefetched random bytes: requesting them from the system costs as much as a point read, for eight bytes as for
// thousands. Not for secrets.
const random = Buffer.alloc(4096);
let used = random.length;

/** Returns this many random bytes, at most 4096, in lower-case hexadecimal. */
export function randomHex(bytes: number): string {
  const start = take(bytes);
  return random.toString("hex", start, start + bytes);
}

/** Returns this many random bytes, at most 4096. */
export function randomBytes(bytes: number): Buffer {
  const start = take(bytes);
  return Buffer.from(random.subarray(start, start + bytes));
}

/** Returns where this many bytes begin that nobody has taken. */
function take(bytes: number): number {
  if (used + bytes > random.length) {
    // The global one, because importing node:crypto costs a fifth of the start of a command that needs no random bytes.
    crypto.getRandomValues(random);
    used = 0;
  }
  used += bytes;
  return used - bytes;
}
