// The text of refresh tokens: base64 of a JSON object, of which clients read only `exp`.
import { createHash, randomBytes } from "node:crypto";
import { isJsonObject } from "../base/json.ts";

/** A refresh token, with its stored form. */
export interface RefreshToken {
  readonly text: string;
  readonly digest: string;
}

/** Longer than any of our refresh tokens. */
const maxLength = 512;

/** Creates the next token of a family. It expires with the family at `expireTime` (milliseconds since the epoch). */
export function newRefreshToken(family: string, expireTime: number): RefreshToken {
  const content = { exp: Math.floor(expireTime / 1000), family, secret: randomBytes(32).toString("base64url") };
  const text = Buffer.from(JSON.stringify(content)).toString("base64");
  return { text, digest: digestOf(text) };
}

/** Creates the id of a new family. */
export function newFamilyId(): string {
  return randomBytes(16).toString("hex");
}

/** Parses a refresh token into family and digest. Returns undefined if it is malformed. */
export function parseRefreshToken(text: string): { readonly family: string; readonly digest: string } | undefined {
  if (text.length > maxLength) return undefined;
  try {
    const content: unknown = JSON.parse(Buffer.from(text, "base64").toString());
    const family = isJsonObject(content) ? content.family : undefined;
    // The digest covers the exact text, so no other spelling of a token passes.
    return typeof family === "string" && /^[0-9a-f]{32}$/.test(family) ? { family, digest: digestOf(text) } : undefined;
  } catch {
    return undefined;
  }
}

/** A plain hash is sufficient for 256 random bits. Nothing else is hashed with this prefix (security case X12). */
function digestOf(text: string): string {
  return createHash("sha256").update(`refresh token\0${text}`).digest("hex");
}
