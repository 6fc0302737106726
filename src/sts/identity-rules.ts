// Rules for how an identity may be assumed, checked when it is created or its relationship changes.
import {
  type Identity,
  type Identity_AWSIdentity,
  type Identity_ClaimMatch,
  type Identity_StaticKeys,
  ServicePrincipal,
  ServicePrincipalSchema,
} from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import type { FieldViolation } from "../aip/errors.ts";
import { fromTimestamp } from "../aip/timestamps.ts";
import { checkIssuer, checkIssuerSpelling } from "../model/issuer-url.ts";
import { checkClaimText, checkVisible } from "./claim-text.ts";
import { show } from "./denials.ts";
import { checkPattern, checkPatternsTogether, type PatternKind } from "./patterns/patterns.ts";
import { checkStaticKeySet } from "./static-keys.ts";
import { maxStaticKeysAge } from "./static-keys-expiry.ts";

/** Options of the rules. Times are in milliseconds since the epoch. */
export interface RelationshipOptions {
  /** Whether issuers on loopback may use plain http. */
  readonly allowInsecureIssuers: boolean;
  readonly now: number;
  /** When the identity was created; `now` for a new one. */
  readonly createTime: number;
}

/** The maximum length of a key set, in bytes of UTF-8. */
const maxKeysBytes = 64 * 1024;
export const maxClaims = 50;
/**
 * The maximum length of issuer and subject together, in bytes of UTF-8: they share one index key, which PostgreSQL
 * limits to 2704 bytes.
 */
const maxKeyBytes = 2600;

/** Returns all violations of the rules. Field paths are relative to the identity. */
export function checkRelationship({ relationship }: Identity, options: RelationshipOptions): FieldViolation[] {
  switch (relationship.case) {
    case "claimMatch":
      return checkClaimMatch(relationship.value, options);
    case "staticKeys":
      return checkStaticKeys(relationship.value, options);
    case "awsIdentity":
      return checkAwsIdentity(relationship.value);
    case "servicePrincipal":
      return checkServicePrincipal(relationship.value);
    case undefined:
      return violation(
        "relationship",
        "exactly one of claim_match, static_keys, aws_identity and service_principal is required",
      );
  }
}

/** Returns all violations of the rules for a claim match. Field paths begin with `claim_match`. */
export function checkClaimMatch(
  { iss, sub, aud, claims, claimPatterns }: Identity_ClaimMatch,
  options: Pick<RelationshipOptions, "allowInsecureIssuers">,
): FieldViolation[] {
  const at = (name: string) => `claim_match.${name}`;
  const violations = [
    ...checkMember(at("issuer"), iss, "issuer", (text) => checkIssuer(text, options.allowInsecureIssuers)),
    ...checkMember(at("subject"), sub, "subject", checkClaimText),
    ...(aud.case === undefined ? [] : checkMember(at("audience"), aud, "audience", checkClaimText)),
    ...checkMap(at("claims"), claims, checkClaimText),
    ...checkMap(at("claim_patterns"), claimPatterns, (pattern) => checkPattern(pattern, "claim")),
  ];
  if (iss.case === "issuer" && sub.case === "subject")
    violations.push(...checkKey("claim_match", iss.value, sub.value));
  // Invalid patterns are not compiled.
  if (violations.length > 0) return violations;
  const members = [iss, sub, aud].filter(({ case: name }) => name?.endsWith("Pattern"));
  const patterns = [...members.map(({ value = "" }) => value), ...Object.values(claimPatterns)];
  return rule("claim_match", checkPatternsTogether(patterns));
}

function checkStaticKeys(keys: Identity_StaticKeys, { now, createTime }: RelationshipOptions): FieldViolation[] {
  const { issuer, subject, issuerKeys, expirationTime, audiences } = keys;
  return [
    ...rule("static_keys.issuer", issuer === "" ? required : checkIssuerName(issuer)),
    ...rule("static_keys.subject", subject === "" ? required : checkClaimText(subject)),
    ...checkKey("static_keys", issuer, subject),
    ...rule("static_keys.issuer_keys", checkIssuerKeys(issuerKeys)),
    ...rule(
      "static_keys.expiration_time",
      expirationTime && checkExpiry(fromTimestamp(expirationTime), now, createTime),
    ),
    ...rule("static_keys.audiences", audiences.length > 1 ? "must have at most one value" : undefined),
    ...audiences.flatMap((text, i) => rule(`static_keys.audiences[${i}]`, text === "" ? empty : checkClaimText(text))),
  ];
}

function checkAwsIdentity({ awsAccount, awsArn, awsUserId }: Identity_AWSIdentity): FieldViolation[] {
  const isAccount = /^[0-9]{12}$/.test(awsAccount);
  return [
    ...rule("aws_identity.aws_account", isAccount ? undefined : 'AWS account ID must match "^[0-9]{12}$"'),
    ...checkMember("aws_identity.arn", awsArn, "arn", checkClaimText),
    ...checkMember("aws_identity.user_id", awsUserId, "user_id", checkClaimText),
  ];
}

function checkServicePrincipal(principal: ServicePrincipal): FieldViolation[] {
  const isKnown = principal !== ServicePrincipal.UNSPECIFIED && ServicePrincipalSchema.value[principal] !== undefined;
  return rule("service_principal", isKnown ? undefined : "must be a known service principal");
}

/**
 * Checks a member that is given exactly or as a pattern. The pattern's field is the exact field with the suffix
 * `_pattern`.
 */
function checkMember(
  field: string,
  member: { readonly case: string | undefined; readonly value?: string | undefined },
  kind: PatternKind,
  check: (text: string) => string | undefined,
): FieldViolation[] {
  const { case: name, value = "" } = member;
  if (name === undefined) return violation(field, `is required, or ${field.split(".").pop()}_pattern in its place`);
  if (name.endsWith("Pattern")) return rule(`${field}_pattern`, checkPattern(value, kind));
  return rule(field, value === "" ? empty : check(value));
}

function checkMap(
  field: string,
  values: Readonly<Record<string, string>>,
  check: (text: string) => string | undefined,
): FieldViolation[] {
  const entries = Object.entries(values);
  if (entries.length > maxClaims) return violation(field, `must have at most ${maxClaims} entries`);
  return entries.flatMap(([name, value]) => [
    ...rule(field, name === "" ? "must not have an empty name" : checkClaimText(name)),
    ...rule(`${field}[${show(name)}]`, check(value)),
  ]);
}

function checkExpiry(time: number, now: number, createTime: number): string | undefined {
  if (time <= now) return "must be in the future";
  return time > createTime + maxStaticKeysAge ? "must be at most 365 days after the creation" : undefined;
}

function checkKey(field: string, issuer: string, subject: string): FieldViolation[] {
  return rule(`${field}.subject`, fitsIndex(issuer, subject) ? undefined : tooLongKey);
}

const tooLongKey = `must be at most ${maxKeyBytes} bytes long with the issuer`;

/** Returns all violations of an issuer and a subject that identify a user. */
export function checkUserSubject(issuer: string, subject: string): FieldViolation[] {
  return [...rule("issuer", checkIssuerName(issuer)), ...rule("subject", checkSubject(issuer, subject))];
}

/**
 * Returns the rule that the subject of an issuer's tokens breaks, without the field's name, or undefined if it is
 * valid.
 */
export function checkSubject(issuer: string, subject: string): string | undefined {
  if (subject === "") return empty;
  return checkVisible(subject) ?? (fitsIndex(issuer, subject) ? undefined : tooLongKey);
}

/** Reports whether this issuer and subject fit the index of identities. */
export function fitsIndex(issuer: string, subject: string): boolean {
  return Buffer.byteLength(issuer) + Buffer.byteLength(subject) <= maxKeyBytes;
}

// The text is stored unchanged.
function checkIssuerKeys(text: string): string | undefined {
  if (text === "") return required;
  if (Buffer.byteLength(text) > maxKeysBytes) return `must be at most ${maxKeysBytes} bytes long`;
  return checkStorable(text) ?? checkStaticKeySet(text);
}

/**
 * Returns the rule that a text breaks as an issuer whose keys are given, or as the issuer of a user; undefined if it is
 * valid. It need not be a URL (RFC 7519 §4.1.1) since nobody fetches keys from it, but a URL must have its one
 * spelling. Pull tokens of a server on 127.0.0.1 have `https://pulltoken.127.0.0.1`, which is not a valid URL.
 */
export function checkIssuerName(text: string): string | undefined {
  return /^\s*https?:/i.test(text) && URL.canParse(text) ? checkIssuerSpelling(text) : checkClaimText(text);
}

// PostgreSQL stores neither of these.
function checkStorable(text: string): string | undefined {
  return text.includes("\0") || !text.isWellFormed() ? "must be well-formed Unicode without U+0000" : undefined;
}

const required = "is required";
const empty = "must not be empty";

function rule(field: string, description: string | undefined): FieldViolation[] {
  return description === undefined ? [] : violation(field, description);
}

function violation(field: string, description: string): FieldViolation[] {
  return [{ field, description }];
}
