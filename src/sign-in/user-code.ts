import { createHash } from "node:crypto";

/** RFC 8628 §6.1: without vowels, so no words occur, and without digits, so characters are not confused. */
const letters = "BCDFGHJKLMNPQRSTVWXZ";
const [groups, groupLength] = [3, 4];

/**
 * Returns a short code that two people can compare to see whether they have the same device code: `BCDF-GHJK-LMNP`.
 *
 * It is derived from the device code, an X25519 public key, on both sides. Its 51 bits prevent an attacker from finding
 * another key with the same code while the device waits.
 */
export function userCodeOf(deviceCode: string): string {
  const digest = createHash("sha256").update(`gatehouse user code\0${deviceCode}`).digest("hex");
  let rest = BigInt(`0x${digest}`);
  const letter = () => {
    const index = Number(rest % BigInt(letters.length));
    rest /= BigInt(letters.length);
    return letters[index];
  };
  return Array.from({ length: groups }, () => Array.from({ length: groupLength }, letter).join("")).join("-");
}
