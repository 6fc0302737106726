// Random bytes that lie ready: to ask for them costs as much as a point read, for eight as for thousands. Not for secrets.
import { randomFillSync } from "node:crypto";

const random = Buffer.alloc(4096);
let used = random.length;

/** So many random bytes, at most 4096, as lower-case hexadecimal digits. */
export function randomHex(bytes: number): string {
  if (used + bytes > random.length) {
    randomFillSync(random);
    used = 0;
  }
  used += bytes;
  return random.toString("hex", used - bytes, used);
}
