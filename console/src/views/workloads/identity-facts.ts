// What an identity asks of a token, as texts, and whether it was ever used.
import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { dayMs } from "../../api/durations.ts";

/** A workload, and how many role bindings it has, if the caller may know that. */
export interface Workload {
  readonly identity: Identity;
  readonly roles: bigint | undefined;
}

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

/** How long static keys are accepted that have no end of their own. */
export const longestKeysMs = 365 * dayMs;

/** Returns when the static keys of an identity end; undefined if it has none. */
export function keysEndOf({ relationship, createTime }: Identity): Date | undefined {
  if (relationship.case !== "staticKeys") return undefined;
  const { expirationTime } = relationship.value;
  if (expirationTime) return timestampDate(expirationTime);
  return createTime && new Date(timestampMs(createTime) + longestKeysMs);
}

/** A public key of an identity with static keys. */
export interface PublicKey {
  readonly index: number;
  /** Its id; empty for none. */
  readonly kid: string;
  /** Its type, such as "RSA" or "EC P-256". */
  readonly type: string;
  /** The algorithm that it is for; empty for any of its type. */
  readonly algorithm: string;
}

/** Returns the public keys of an identity; none if it has no static ones. */
export function keysOf({ relationship }: Identity): readonly PublicKey[] {
  if (relationship.case !== "staticKeys" || relationship.value.issuerKeys === "") return [];
  const { keys } = JSON.parse(relationship.value.issuerKeys) as { readonly keys: readonly Record<string, string>[] };
  return keys.map(({ kid = "", kty = "", crv = "", alg = "" }, index) => ({
    index,
    kid,
    type: [kty, crv].filter((part) => part !== "").join(" "),
    algorithm: alg,
  }));
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

type Demanded = readonly [name: string, value: string];

/** A value that is asked for, as a text: a pattern is in slashes, and a value that looks like one in quotes. Empty for anything. */
export function demandText(value: string, isPattern: boolean): string {
  if (value === "") return "";
  if (isPattern) return `/${value}/`;
  return /^(?:\/.*\/|".*)$/su.test(value) ? JSON.stringify(value) : value;
}

/** Returns everything that is asked for: names as the exchange checks them, each once, and values as `demandText` writes them. */
export function demandsOf({ relationship }: Identity): readonly Demanded[] {
  const asked = new Map<string, string>();
  for (const [name, text] of allDemandsOf(relationship))
    if (text !== "") asked.set(name, [asked.get(name), text].filter(Boolean).join(" + "));
  return [...asked];
}

function allDemandsOf(relationship: Identity["relationship"]): readonly Demanded[] {
  if (relationship.case === "claimMatch") {
    const { iss, sub, aud, claims, claimPatterns } = relationship.value;
    return [
      one("iss", iss),
      one("sub", sub),
      one("aud", aud),
      ...Object.entries(claims).map(([name, value]) => [name, demandText(value, false)] as const),
      ...Object.entries(claimPatterns).map(([name, value]) => [name, demandText(value, true)] as const),
    ];
  }
  if (relationship.case === "staticKeys") {
    const { issuer, subject, audiences } = relationship.value;
    return [
      ["iss", demandText(issuer, false)],
      ["sub", demandText(subject, false)],
      ["aud", demandText(audiences[0] ?? "", false)],
    ];
  }
  if (relationship.case === "awsIdentity") {
    const { awsAccount, awsArn, awsUserId } = relationship.value;
    return [["account", demandText(awsAccount, false)], one("arn", awsArn), one("user id", awsUserId)];
  }
  return [];
}

interface Oneof {
  readonly case: string | undefined;
  readonly value?: string | undefined;
}

/** A demand of a oneof, whose member for a pattern has a name with `Pattern`. */
function one(name: string, { case: member = "", value = "" }: Oneof): Demanded {
  return [name, demandText(value, member.endsWith("Pattern"))];
}
