import { createHash } from "node:crypto";
import { normalizeIssuer } from "../../../sts/claim-match.ts";

/** Returns the uid of the user with this issuer and subject, whether or not they have registered yet. */
export function userUid(issuer: string, subject: string): string {
  const normalised = normalizeIssuer(issuer);
  return createHash("sha256").update(`${normalised.length}:${normalised}${subject}`).digest("hex").slice(0, 40);
}

/** Whether a uid is that of a user: an identity that belongs to no group. */
export function isUserUid(uid: string): boolean {
  return !uid.includes("/");
}
