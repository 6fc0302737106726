// The token that is presented for exchange: taken apart, and later verified. Until then nothing in it is true.
import { isUtf8 } from "node:buffer";
import type { KeyObject } from "node:crypto";
import { type KeyHint, type KeySet, outsideAlgorithms } from "../authn/key-sets.ts";
import { isJsonObject, type JsonObject, numberOf, parseExactly } from "../base/json.ts";
import { loader, once } from "../base/lazy.ts";
import { type Claims, normalizeIssuer } from "./claim-match.ts";
import { checkVisible } from "./claim-text.ts";
import { keysDenied, show, type VerificationCheck, verificationDenied } from "./denials.ts";

const jose = once((): typeof import("jose") => loader(import.meta.url)("jose"));

/** A token taken apart. */
export interface SubjectToken {
  readonly text: string;
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Claims;
  /** The unverified `iss` and `sub`, empty when they are no texts that anything is known by. */
  readonly issuer: string;
  readonly subject: string;
}

/** How far an issuer's clock may be ahead of ours, in milliseconds. Never granted to `exp`. */
const issuerSkewMs = 60_000;

// RFC 7515 §3.1: exactly three segments; an unsecured token has an empty last one and fails later, for its algorithm.
const compactJws = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** Takes a token apart; undefined when it is not a JSON Web Token with a signature part. */
export function parseSubjectToken(text: string): SubjectToken | undefined {
  if (!compactJws.test(text)) return undefined;
  const [header, claims] = text.split(".", 2).map(parseSegment);
  if (!header || !claims) return undefined;
  const [issuer, subject] = [asText(claims.iss), asText(claims.sub)];
  return { text, header, claims, issuer: normalizeIssuer(issuer), subject };
}

/** The JSON object that a segment holds; undefined when it holds none, or one that has a member twice (RFC 7519 §4). */
function parseSegment(segment: string): JsonObject | undefined {
  const bytes = Buffer.from(segment, "base64url");
  if (!isUtf8(bytes)) return undefined;
  try {
    const value = parseExactly(bytes.toString());
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The claims of a token that one of the keys has signed and that is in force at `now`.
 *
 * PERMISSION_DENIED with the check that failed, or UNAVAILABLE when the keys cannot be had for the moment. They are
 * asked for only when nothing else is wrong: to ask may mean a request to the issuer.
 */
export async function verifySubjectToken(
  token: SubjectToken,
  keys: () => Promise<KeySet>,
  now: number,
): Promise<Claims> {
  for (const { run } of verificationsOf(token, keys, now)) await run();
  return token.claims;
}

/** The claims of a token that one of the keys has signed, whether or not it is in force; rejects as `verifySubjectToken` does. */
export async function verifySigned(token: SubjectToken, keys: () => Promise<KeySet>): Promise<Claims> {
  for (const { check, run } of verificationsOf(token, keys, 0)) if (!isAboutTime(check)) await run();
  return token.claims;
}

/** Whether a check is about the times of a token. */
export function isAboutTime(check: VerificationCheck): boolean {
  return timeChecks.some(([name]) => name === check);
}

/** One check of a token that needs no identity. */
export interface Verification {
  readonly check: VerificationCheck;
  /** Throws when the check fails. */
  run(): void | Promise<void>;
}

/** Every such check, in the order in which they are made; the signature needs the keys that were found before. */
export function verificationsOf(token: SubjectToken, keys: () => Promise<KeySet>, now: number): Verification[] {
  const { header, claims } = token;
  let set: KeySet | undefined;
  let candidates: readonly KeyObject[] = [];
  return [
    { check: "alg", run: () => void readHint(header) },
    ...timeChecks.map(([check, run]) => ({ check, run: () => run(claims, now) })),
    {
      check: "keys",
      async run() {
        const hint = readHint(header);
        candidates = await asKeys(async () => {
          set = await keys();
          return await set.find(hint);
        });
        if (candidates.length === 0) throw verificationDenied("keys", "no key of the issuer fits the token");
      },
    },
    { check: "signature", run: () => verifySignature(token, set, candidates) },
  ];
}

// RFC 8725 §3.1: what the token may be signed with is our choice.
function readHint({ alg, kid, crit }: SubjectToken["header"]): KeyHint {
  if (typeof alg !== "string" || !outsideAlgorithms.includes(alg)) {
    throw verificationDenied("alg", `unsupported signing algorithm "${show(alg)}"`);
  }
  // RFC 7515 §4.1.11: no extension is known here; `b64` above all would have the claims read in another way.
  if (crit !== undefined) throw verificationDenied("token", "the token needs an extension that is not known");
  return { alg, kid: typeof kid === "string" ? kid : undefined };
}

async function asKeys(find: () => Promise<readonly KeyObject[]>): Promise<readonly KeyObject[]> {
  try {
    return await find();
  } catch (error) {
    throw keysDenied(error);
  }
}

async function verifySignature(
  { text, header }: SubjectToken,
  set: KeySet | undefined,
  candidates: readonly KeyObject[],
): Promise<void> {
  const hint = readHint(header);
  if (await isSignedBy(candidates, text, hint)) return;
  const newer = await asKeys(async () => (await set?.findNewer?.(hint)) ?? []);
  if (await isSignedBy(newer, text, hint)) return;
  throw verificationDenied("signature", "failed to verify the signature");
}

async function isSignedBy(keys: readonly KeyObject[], text: string, { alg }: KeyHint): Promise<boolean> {
  for (const key of keys) {
    try {
      await jose().compactVerify(text, key, { algorithms: [alg] });
      return true;
    } catch (error) {
      if (error instanceof jose().errors.JWSSignatureVerificationFailed) continue;
      throw verificationDenied("token", "the token is not well-formed", error);
    }
  }
  return false;
}

/** When a token expires, in milliseconds since the epoch; undefined when it does not say. */
export function expiryOf({ exp }: Claims): number | undefined {
  return timeOf(exp);
}

// RFC 7519 §4.1.4 to §4.1.6.
const timeChecks: readonly (readonly [check: VerificationCheck, run: (claims: Claims, now: number) => void])[] = [
  ["exp", checkExpiry],
  ["nbf", ({ nbf }, now) => checkDue(nbf, now, "nbf", "the token is not valid yet")],
  ["iat", ({ iat }, now) => checkDue(iat, now, "iat", "the token is of the future")],
];

function checkExpiry(claims: Claims, now: number): void {
  const expiry = expiryOf(claims);
  if (expiry === undefined) throw verificationDenied("exp", "the token has no time of expiry");
  if (expiry <= now) {
    throw verificationDenied("exp", `token is expired (Token Expiry: ${new Date(expiry).toISOString()})`);
  }
}

function checkDue(claim: unknown, now: number, check: VerificationCheck, problem: string): void {
  if (claim === undefined) return;
  const time = timeOf(claim);
  if (time === undefined || time > now + issuerSkewMs) throw verificationDenied(check, problem);
}

/** A NumericDate (RFC 7519 §2) in milliseconds; undefined for what is none, or no Date can hold. */
function timeOf(claim: unknown): number | undefined {
  const seconds = numberOf(claim);
  // A Date has no fractions of a millisecond.
  return seconds !== undefined && Math.abs(seconds) <= 8.64e12 ? Math.trunc(seconds * 1000) : undefined;
}

/** Identities are looked for by it, and databases hold no text that breaks the rule. */
function asText(value: unknown): string {
  return typeof value === "string" && checkVisible(value) === undefined ? value : "";
}
