import { createHash, randomBytes } from "node:crypto";

/** A new code and its stored form. */
export interface InviteCode {
  /** 96 hexadecimal digits: a key id of 32, and a secret of 64. */
  readonly code: string;
  readonly keyId: string;
  readonly digest: string;
}

/** Makes the code of an invite. */
export function newInviteCode(): InviteCode {
  const keyId = randomBytes(16).toString("hex");
  const code = keyId + randomBytes(32).toString("hex");
  return { code, keyId, digest: digestInviteCode(code) };
}

/** Returns the digest of a code for storage. An unsalted hash is enough for 256 random bits. The prefix is used for nothing else. */
export function digestInviteCode(code: string): string {
  return createHash("sha256").update(`group invite\0${code}`).digest("hex");
}
