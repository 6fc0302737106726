import { createHash, randomBytes } from "node:crypto";

/** A new code and what is kept of it. */
export interface InviteCode {
  /** 96 hexadecimal digits: 32 that name it, and 64 that only its holder knows. */
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

/** What is kept of a code. A plain hash is enough for 256 random bits; no other artefact is hashed with this prefix. */
export function digestInviteCode(code: string): string {
  return createHash("sha256").update(`group invite\0${code}`).digest("hex");
}
