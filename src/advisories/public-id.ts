// Public ids of advisories.
import { createHash } from "node:crypto";

/** The letters of public ids: no vowels, and none that reads like another. */
const alphabet = "23456789cfghjmpqrvwx";

/** Returns the public id that 12 bytes or more stand for. */
export function publicIdOf(bytes: Iterable<number>): string {
  const letters = [...bytes].map((byte) => alphabet[byte % alphabet.length]).join("");
  return `CGA-${letters.slice(0, 4)}-${letters.slice(4, 8)}-${letters.slice(8, 12)}`;
}

/** Returns the public id that follows from these texts, the same at every import. */
export function derivedPublicId(texts: readonly string[]): string {
  return publicIdOf(createHash("sha256").update(texts.join("\0")).digest().subarray(0, 12));
}
