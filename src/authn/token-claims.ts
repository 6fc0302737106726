// The claims of our API tokens. Writing and reading stand together so both know the same claims.
import { randomBytes } from "node:crypto";
import { permissionDenied } from "../aip/errors.ts";
import { clockSkewSeconds } from "../base/clock.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { formatCapabilitySet, parseCapabilitySet } from "../model/capabilities.ts";
import { isUid, parentOf } from "../model/uid.ts";
import type { Narrowing, VerifiedToken } from "./caller.ts";
import { TokenError } from "./token-error.ts";

/** How long a token is valid, in seconds. */
export const tokenLifetime = 3600;

/** The content of a new token. */
export interface TokenRequest {
  /** The uid of the identity. */
  readonly subject: string;
  readonly audience: readonly string[];
  /** Claims of the subject token of the exchange: at least `iss`, `sub` and `aud`. */
  readonly act: Readonly<Record<string, string>>;
  readonly email?: string | undefined;
  readonly emailVerified?: boolean | undefined;
  /** Group uid to the text of a capability set. For clients to display; access never depends on it. */
  readonly grants: Readonly<Record<string, string>>;
  /** Whether the session of a browser issues the token; false if absent. */
  readonly isOfBrowser?: boolean | undefined;
  readonly narrowing: Narrowing;
  /** The uids of the external group role mappings (of one identity provider) that the token carries. */
  readonly mappings?: readonly string[] | undefined;
  /** Milliseconds since the epoch: the token expires then if that is before its hour ends. */
  readonly notAfter?: number | undefined;
}

/** The required claims of a token. */
export interface Expectation {
  readonly issuer: string;
  readonly audiences: ReadonlySet<string>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Returns the claims of a new token (RFC 7519 §4.1). Throws PERMISSION_DENIED if a claim of the subject token cannot be
 * carried.
 */
export function writeClaims(issuer: string, request: TokenRequest, now: number): JsonObject & { readonly exp: number } {
  const { subject, audience, act, email, emailVerified, grants, notAfter = Number.POSITIVE_INFINITY } = request;
  checkTexts([["email", email ?? ""], ...Object.entries(act)]);
  const iat = Math.floor(now / 1000);
  const exp = Math.min(iat + tokenLifetime, Math.floor(notAfter / 1000));
  if (exp <= iat) throw permissionDenied("the subject token has expired");
  return {
    iss: issuer,
    sub: subject,
    // RFC 7519 §4.1.3: a single audience may be a string; clients rely on it.
    aud: audience.length === 1 ? audience[0] : audience,
    iat,
    exp,
    jti: randomBytes(16).toString("base64url"),
    act,
    ...(email !== undefined && { email }),
    ...(emailVerified !== undefined && { email_verified: emailVerified }),
    // Not in the private claim: servers of the release before reject tokens with members that they do not know.
    ...(request.isOfBrowser && { browser: true }),
    ...writePrivate(request),
    cap: grants,
  };
}

/** Validates and reads the claims of a token. Throws a TokenError with the first failed check. */
export function readClaims(claims: JsonObject, expected: Expectation): VerifiedToken {
  // RFC 8725 §3.8: byte for byte. A trailing slash or a capital letter makes another issuer.
  if (claims.iss !== expected.issuer) throw new TokenError("issuer");
  const audience = readAudience(claims.aud, expected.audiences);
  const times = readTimes(claims, expected.now);
  const { sub, act, email = "", email_verified: emailVerified = false } = claims;
  if (typeof sub !== "string" || !isUid(sub) || !isTextMap(act)) throw new TokenError("claims");
  if (!isText(email) || typeof emailVerified !== "boolean") throw new TokenError("claims");
  const isOfBrowser = claims.browser === true;
  const read = { subject: sub, audience, ...times, act, email, emailVerified, ...readPrivate(claims.gatehouse) };
  return isOfBrowser ? { ...read, isOfBrowser } : read;
}

function readAudience(aud: unknown, ours: ReadonlySet<string>): string[] {
  const audience: unknown = typeof aud === "string" ? [aud] : aud;
  // RFC 7519 §4.1.3: one exact match is enough; prefixes and other spellings do not match.
  if (!isTextList(audience) || !audience.some((one) => ours.has(one)))
    throw new TokenError("audience", ours.values().next().value);
  return audience;
}

function readTimes({ iat, exp, nbf = iat }: JsonObject, now: number): Pick<VerifiedToken, "issuedAt" | "expiresAt"> {
  if (!isSeconds(iat) || !isSeconds(exp) || !isSeconds(nbf)) throw new TokenError("claims");
  if (exp <= iat || exp - iat > tokenLifetime) throw new TokenError("claims");
  if (now >= exp * 1000) throw new TokenError("expired");
  // The clock skew never applies to `exp`.
  if (now < (Math.max(iat, nbf) - clockSkewSeconds) * 1000) throw new TokenError("not-yet-valid");
  return { issuedAt: iat * 1000, expiresAt: exp * 1000 };
}

// One private claim (RFC 7519 §4.3) for the limits and the mappings of a token. `cap` is for display only.
function writePrivate({ narrowing: { scopes, capabilities }, mappings = [] }: TokenRequest): JsonObject {
  const claim = {
    ...(scopes && { scopes }),
    ...(capabilities && { capabilities: formatCapabilitySet(capabilities) }),
    ...(mappings.length > 0 && { mappings: shortenMappings(mappings) }),
  };
  return Object.keys(claim).length > 0 ? { gatehouse: claim } : {};
}

/** An unknown member rejects the token: ignoring it could widen the token's access. */
function readPrivate(claim: unknown): Pick<VerifiedToken, "narrowing" | "mappings"> {
  if (claim === undefined) return { narrowing: {} };
  if (!isJsonObject(claim)) throw new TokenError("claims");
  const { mappings, ...rest } = claim;
  const narrowing = readNarrowing(rest);
  return mappings === undefined ? { narrowing } : { narrowing, mappings: readMappings(mappings) };
}

function readNarrowing({ scopes, capabilities, ...unknown }: JsonObject): Narrowing {
  if (Object.keys(unknown).length > 0) throw new TokenError("claims");
  if (scopes !== undefined && !(isTextList(scopes) && scopes.every(isUid))) throw new TokenError("claims");
  if (capabilities === undefined) return scopes ? { scopes } : {};
  const set = typeof capabilities === "string" ? parseCapabilitySet(capabilities) : undefined;
  if (!set) throw new TokenError("claims");
  return scopes ? { scopes, capabilities: set } : { capabilities: set };
}

/** Writes the provider's uid once and then the last segment of each mapping: header space is limited. */
function shortenMappings(mappings: readonly string[]): string[] {
  const provider = parentOf(mappings[0]!);
  return [provider, ...mappings.map((uid) => uid.slice(provider.length + 1))];
}

function readMappings(claim: unknown): string[] {
  const [provider, ...segments] = isTextList(claim) ? claim : [];
  const mappings = segments.map((segment) => `${provider}/${segment}`);
  if (!provider || !mappings.every(isUid)) throw new TokenError("claims");
  return mappings;
}

/** Claims of a subject token may contain half a surrogate pair, which our tokens must not carry (security case T11). */
function checkTexts(texts: readonly (readonly [claim: string, text: string])[]): void {
  for (const [claim, text] of texts) {
    if (text.isWellFormed()) continue;
    throw permissionDenied(`the claim ${claim.toWellFormed()} of the subject token is not well-formed Unicode`);
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed();
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}

function isTextMap(value: unknown): value is Record<string, string> {
  return isJsonObject(value) && Object.values(value).every(isText);
}

function isSeconds(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
