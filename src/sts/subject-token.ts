// The subject token of an exchange: parsed first, verified later. Do not trust its claims in between.
import { isUtf8 } from "node:buffer";
import { hash, type KeyObject } from "node:crypto";
import { LRUCache } from "lru-cache";
import { type KeyHint, type KeySet, outsideAlgorithms, verifyOutsideJws } from "../authn/key-sets.ts";
import { isJsonObject, type JsonObject, numberOf, parseExactly } from "../base/json.ts";
import { type Claims, normalizeIssuer } from "./claim-match.ts";
import { checkVisible } from "./claim-text.ts";
import { keysDenied, show, type VerificationCheck, verificationDenied } from "./denials.ts";

/** A parsed token. */
export interface SubjectToken {
  readonly text: string;
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Claims;
  /** The unverified `iss` and `sub`; empty if they cannot identify anything. */
  readonly issuer: string;
  readonly subject: string;
}

/** How far an issuer's clock may be ahead of ours, in milliseconds. Never applied to `exp`. */
const issuerSkewMs = 60_000;

// RFC 7515 §3.1: exactly three segments. An unsecured token has an empty last one and is rejected later for its
// algorithm.
const compactJws = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** Parses a token. Returns undefined unless it is a JSON Web Token with a signature part. */
export function parseSubjectToken(text: string): SubjectToken | undefined {
  if (!compactJws.test(text)) return undefined;
  const [header, claims] = text.split(".", 2).map(parseSegment);
  if (!header || !claims) return undefined;
  const [issuer, subject] = [asText(claims.iss), asText(claims.sub)];
  return { text, header, claims, issuer: normalizeIssuer(issuer), subject };
}

/**
 * Parses the JSON object in a segment. Returns undefined if it has none, or one with duplicate members (RFC 7519 §4).
 */
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
 * Returns the claims of a token that one of the keys signed and that is valid at `now`.
 *
 * Rejects with PERMISSION_DENIED and the failed check, or with UNAVAILABLE if the keys cannot be fetched. Keys are
 * fetched last, because that may mean a request to the issuer.
 */
export async function verifySubjectToken(
  token: SubjectToken,
  keys: () => Promise<KeySet>,
  now: number,
): Promise<Claims> {
  for (const { run } of verificationsOf(token, keys, now)) await run();
  return token.claims;
}

/** Runs the checks of a token that need neither a key nor an identity. Throws PERMISSION_DENIED with the failed check. */
export function checkUnsigned(token: SubjectToken, now: number): void {
  for (const { run } of withoutKeys(token, now)) void run();
}

/** Like `verifySubjectToken`, without checking the times of the token. */
export async function verifySigned(token: SubjectToken, keys: () => Promise<KeySet>): Promise<Claims> {
  for (const { check, run } of verificationsOf(token, keys, 0)) if (!isAboutTime(check)) await run();
  return token.claims;
}

/** Reports whether a check is about the times of a token. */
export function isAboutTime(check: VerificationCheck): boolean {
  return timeChecks.some(([name]) => name === check);
}

/** One check of a token that does not depend on an identity. */
export interface Verification {
  readonly check: VerificationCheck;
  /** Throws if the check fails. */
  run(): void | Promise<void>;
}

function withoutKeys(token: SubjectToken, now: number): Verification[] {
  const { header, claims } = token;
  return [
    { check: "typ", run: () => checkKind(token) },
    { check: "alg", run: () => void readHint(header) },
    ...timeChecks.map(([check, run]) => ({ check, run: () => run(claims, now) })),
  ];
}

/** Returns the checks in order. The signature check needs the keys that the check before it found. */
export function verificationsOf(token: SubjectToken, keys: () => Promise<KeySet>, now: number): Verification[] {
  let set: KeySet | undefined;
  let candidates: readonly KeyObject[] = [];
  return [
    ...withoutKeys(token, now),
    {
      check: "keys",
      async run() {
        const hint = readHint(token.header);
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

/** The types of tokens that identify a workload or a person, in lower case and without `application/`. */
const acceptedTypes: readonly unknown[] = [undefined, "jwt", "jose", "at+jwt", "id+jwt"];

/** RFC 8725 §3.11: a token that an issuer made for something else identifies nobody, such as a logout token. */
function checkKind({ header, claims }: SubjectToken): void {
  const { typ } = header;
  // RFC 7515 §4.1.9: the prefix may be omitted, and media types have no case.
  const type = typeof typ === "string" ? typ.toLowerCase().replace(/^application\//, "") : typ;
  if (!acceptedTypes.includes(type))
    throw verificationDenied("typ", `the type of the token is "${show(typ)}"; accepted: JWT, JOSE, at+jwt, id+jwt`);
  // RFC 8417 §2.2: a security event token.
  if (claims.events !== undefined) throw verificationDenied("typ", "the token has events");
  // RFC 9449 §6, RFC 8705 §3.1: such a token is worth nothing without a proof that its holder has the key.
  if (claims.cnf !== undefined) throw verificationDenied("typ", 'the token is bound to a key ("cnf")');
}

// RFC 8725 §3.1: we choose the accepted algorithms, not the token.
function readHint({ alg, kid, crit }: SubjectToken["header"]): KeyHint {
  if (typeof alg !== "string" || !outsideAlgorithms.includes(alg)) {
    throw verificationDenied("alg", `unsupported signing algorithm "${show(alg)}"`);
  }
  // RFC 7515 §4.1.11: no extension is supported; `b64` above all would change how the claims are read.
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
  const signature = text.slice(text.lastIndexOf(".") + 1);
  // RFC 4648 §3.5: unused bits would give one token several spellings.
  if (Buffer.from(signature, "base64url").toString("base64url") !== signature)
    throw verificationDenied("signature", "the signature is not canonical base64url");
  const hint = readHint(header);
  if (isSignedBy(candidates, text, hint)) return;
  const newer = await asKeys(async () => (await set?.findNewer?.(hint)) ?? []);
  if (isSignedBy(newer, text, hint)) return;
  throw verificationDenied("signature", "failed to verify the signature");
}

/** The key that signed each recently verified token, by the digest of the whole token: jobs and nodes send theirs many times. */
const verifiedBy = new LRUCache<string, KeyObject>({ max: 10_000 });

/** A token that was verified before is not verified again while its key is one of `keys`, which the issuer may withdraw. */
function isSignedBy(keys: readonly KeyObject[], text: string, { alg }: KeyHint): boolean {
  const digest = hash("sha256", text, "base64url");
  const known = verifiedBy.get(digest);
  if (known !== undefined && keys.includes(known)) return true;
  const signer = keys.find((key) => verifyOutsideJws(text, alg, key));
  if (signer !== undefined) verifiedBy.set(digest, signer);
  return signer !== undefined;
}

/** Returns when a token expires, in milliseconds since the epoch, or undefined if it does not say. */
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

/**
 * Converts a NumericDate (RFC 7519 §2) to milliseconds. Returns undefined if it is not one, or if no Date can hold it.
 */
function timeOf(claim: unknown): number | undefined {
  const seconds = numberOf(claim);
  // A Date has no fractions of a millisecond.
  return seconds !== undefined && Math.abs(seconds) <= 8.64e12 ? Math.trunc(seconds * 1000) : undefined;
}

/**
 * Returns the text of a claim if it can identify something: identities are looked up by it, and databases store no
 * other text.
 */
function asText(value: unknown): string {
  return typeof value === "string" && checkVisible(value) === undefined ? value : "";
}
