import { createHash } from "node:crypto";
import { normalizeIssuer } from "../../../sts/claim-match.ts";

/** Returns the uid of the user with this issuer and subject, whether or not they have registered yet. */
export function userUid(issuer: string, subject: string): string {
  const normalised = normalizeIssuer(issuer);
  return createHash("sha256").update(`${normalised.length}:${normalised}${subject}`).digest("hex").slice(0, 40);
}

/**
 * Returns the uids of a person under both spellings of the issuer, with and without a final slash. For rules that deny: a provider may
 * use both, and neither must be a way round.
 */
export function userUidsOf(issuer: string, subject: string): string[] {
  return issuerSpellings(issuer).map((spelling) => userUid(spelling, subject));
}

/** Returns an issuer without and with a final slash. */
export function issuerSpellings(issuer: string): string[] {
  const stem = normalizeIssuer(issuer).replace(/\/$/, "");
  return [stem, `${stem}/`];
}

/** Whether a uid is that of a user: an identity that belongs to no group. */
export function isUserUid(uid: string): boolean {
  return !uid.includes("/");
}
