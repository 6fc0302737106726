// The text of refresh tokens: base64 of a JSON object, of which clients read `exp` and nothing else.
import { createHash, randomBytes } from "node:crypto";
import { isJsonObject } from "../base/json.ts";

/** A refresh token and what is kept of it. */
export interface RefreshToken {
  readonly text: string;
  readonly digest: string;
}

/** Longer than any of ours. */
const maxLength = 512;

/** The next token of a family, which ends at `expireTime` (milliseconds since the epoch) with it. */
export function newRefreshToken(family: string, expireTime: number): RefreshToken {
  const content = { exp: Math.floor(expireTime / 1000), family, secret: randomBytes(32).toString("base64url") };
  const text = Buffer.from(JSON.stringify(content)).toString("base64");
  return { text, digest: digestOf(text) };
}

/** The name of a new family. */
export function newFamilyId(): string {
  return randomBytes(16).toString("hex");
}

/** Reads a token that is presented: its family and its digest. Undefined for what is no refresh token. */
export function parseRefreshToken(text: string): { readonly family: string; readonly digest: string } | undefined {
  if (text.length > maxLength) return undefined;
  try {
    const content: unknown = JSON.parse(Buffer.from(text, "base64").toString());
    const family = isJsonObject(content) ? content.family : undefined;
    // A digest of the text, and the text must be that of a token to the letter, so no other spelling of it passes.
    return typeof family === "string" && /^[0-9a-f]{32}$/.test(family) ? { family, digest: digestOf(text) } : undefined;
  } catch {
    return undefined;
  }
}

/** A plain hash is enough for 256 random bits; nothing else is hashed with this prefix (security case X12). */
function digestOf(text: string): string {
  return createHash("sha256").update(`refresh token\0${text}`).digest("hex");
}
