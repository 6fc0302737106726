// Prefetched random bytes: requesting them from the system costs as much as a point read, for eight bytes as for
// thousands. Not for secrets.
const random = Buffer.alloc(4096);
let used = random.length;

/** Returns this many random bytes, at most 4096, in lower-case hexadecimal. */
export function randomHex(bytes: number): string {
  if (used + bytes > random.length) {
    // The global one, because importing node:crypto costs a fifth of the start of a command that needs no random bytes.
    crypto.getRandomValues(random);
    used = 0;
  }
  used += bytes;
  return random.toString("hex", used - bytes, used);
}
