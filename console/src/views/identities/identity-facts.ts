// What an identity asks of a token, as texts, and whether it was ever used.
import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";

/** The kind of credentials that an identity takes. */
export type IdentityType = "claimMatch" | "staticKeys" | "awsIdentity" | "servicePrincipal" | "person";

/** Returns the kind of credentials. A person has none here: they sign in at a login provider. */
export function typeOf({ relationship }: Identity): IdentityType {
  return relationship.case ?? "person";
}

/** Whether an identity was ever assumed. Its creation counts as seen. */
export function wasUsed({ lastSeenTime, createTime }: Identity): boolean {
  return lastSeenTime !== undefined && (!createTime || timestampMs(lastSeenTime) > timestampMs(createTime));
}

export const dayMs = 24 * 3_600_000;

/** How long static keys are accepted that have no end of their own. */
export const longestKeysMs = 365 * dayMs;

/** Returns when the static keys of an identity end; undefined if it has none. */
export function keysEndOf({ relationship, createTime }: Identity): Date | undefined {
  if (relationship.case !== "staticKeys") return undefined;
  const { expirationTime } = relationship.value;
  if (expirationTime) return timestampDate(expirationTime);
  return createTime && new Date(timestampMs(createTime) + longestKeysMs);
}

/** Returns the issuer; a pattern as it is. */
export function issuerOf({ relationship }: Identity): string {
  if (relationship.case === "claimMatch") return relationship.value.iss.value ?? "";
  if (relationship.case === "staticKeys") return relationship.value.issuer;
  if (relationship.case === "awsIdentity") return relationship.value.awsAccount;
  return "";
}

/** Returns the subject; a pattern as it is. */
export function subjectOf({ relationship }: Identity): string {
  if (relationship.case === "claimMatch") return relationship.value.sub.value ?? "";
  if (relationship.case === "staticKeys") return relationship.value.subject;
  if (relationship.case === "awsIdentity") return relationship.value.awsArn.value ?? "";
  return "";
}

/** Returns everything that is asked for: names as the exchange checks them, and values. Patterns are in slashes. */
export function demandsOf({ relationship }: Identity): readonly (readonly [name: string, value: string])[] {
  if (relationship.case === "claimMatch") {
    const { iss, sub, aud, claims, claimPatterns } = relationship.value;
    return [
      ...one("iss", iss, "issuer"),
      ...one("sub", sub, "subject"),
      ...one("aud", aud, "audience"),
      ...Object.entries(claims),
      ...Object.entries(claimPatterns).map(([name, value]) => [name, `/${value}/`] as const),
    ];
  }
  if (relationship.case === "staticKeys") {
    const { issuer, subject } = relationship.value;
    return [
      ["iss", issuer],
      ["sub", subject],
    ];
  }
  if (relationship.case === "awsIdentity") {
    const { awsAccount, awsArn, awsUserId } = relationship.value;
    return [["account", awsAccount], ...one("arn", awsArn, "arn"), ...one("user id", awsUserId, "userId")];
  }
  return [];
}

function one(
  name: string,
  field: { readonly case: string | undefined; readonly value?: string | undefined },
  literal: string,
): readonly (readonly [string, string])[] {
  if (field.case === undefined || !field.value) return [];
  return [[name, field.case === literal ? field.value : `/${field.value}/`]];
}
