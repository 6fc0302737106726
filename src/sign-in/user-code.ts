import { createHash } from "node:crypto";

/** RFC 8628 §6.1: no vowels, so that no words come about, and no digits, so that nothing sounds or looks alike. */
const letters = "BCDFGHJKLMNPQRSTVWXZ";
const [groups, groupLength] = [3, 4];

/**
 * What two people can read to each other to find out whether they see the same device code: `BCDF-GHJK-LMNP`.
 *
 * It follows from the device code, an X25519 public key, and both sides work it out. Its 51 bits keep somebody who has seen it from
 * finding a key of their own with the same one while the device waits.
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
