// The token that is presented for exchange: taken apart, and later verified. Until then nothing in it is true.
import type { KeyObject } from "node:crypto";
import { type KeyHint, type KeySet, outsideAlgorithms } from "../authn/key-sets.ts";
import { loader, once } from "../lazy.ts";
import { type Claims, normalizeIssuer } from "./claim-match.ts";
import { keysDenied, show, type VerificationCheck, verificationDenied } from "./denials.ts";

const jose = once((): typeof import("jose") => loader(import.meta.url)("jose"));

/** A token taken apart. */
export interface PresentedToken {
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
export function parsePresented(text: string): PresentedToken | undefined {
  if (!compactJws.test(text)) return undefined;
  // That it cannot be loaded says nothing of the token.
  const { decodeProtectedHeader, decodeJwt } = jose();
  try {
    const header: Record<string, unknown> = decodeProtectedHeader(text);
    const claims: Claims = decodeJwt(text);
    const [issuer, subject] = [asText(claims.iss), asText(claims.sub)];
    return { text, header, claims, issuer: normalizeIssuer(issuer), subject };
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
export async function verifyPresented(
  token: PresentedToken,
  keys: () => Promise<KeySet>,
  now: number,
): Promise<Claims> {
  for (const { run } of verificationsOf(token, keys, now)) await run();
  return token.claims;
}

/** One check of a token that needs no identity. */
export interface Verification {
  readonly check: VerificationCheck;
  /** Throws when the check fails. */
  run(): void | Promise<void>;
}

/** Every such check, in the order in which they are made; the signature needs the keys that were found before. */
export function verificationsOf(token: PresentedToken, keys: () => Promise<KeySet>, now: number): Verification[] {
  const { text, header, claims } = token;
  let candidates: readonly KeyObject[] = [];
  return [
    { check: "alg", run: () => void readHint(header) },
    ...timeChecks.map(([check, run]) => ({ check, run: () => run(claims, now) })),
    {
      check: "keys",
      async run() {
        candidates = await findKeys(keys, readHint(header));
        if (candidates.length === 0) throw verificationDenied("keys", "no key of the issuer fits the token");
      },
    },
    { check: "signature", run: () => verifySignature(text, readHint(header).alg, candidates) },
  ];
}

// RFC 8725 §3.1: what the token may be signed with is our choice.
function readHint({ alg, kid, crit }: PresentedToken["header"]): KeyHint {
  if (typeof alg !== "string" || !outsideAlgorithms.includes(alg)) {
    throw verificationDenied("alg", `unsupported signing algorithm "${show(alg)}"`);
  }
  // RFC 7515 §4.1.11: no extension is known here; `b64` above all would have the claims read in another way.
  if (crit !== undefined) throw verificationDenied("token", "the token needs an extension that is not known");
  return { alg, kid: typeof kid === "string" ? kid : undefined };
}

async function findKeys(keys: () => Promise<KeySet>, hint: KeyHint): Promise<readonly KeyObject[]> {
  try {
    return await (await keys()).find(hint);
  } catch (error) {
    throw keysDenied(error);
  }
}

async function verifySignature(text: string, alg: string, candidates: readonly KeyObject[]): Promise<void> {
  for (const key of candidates) {
    try {
      await jose().compactVerify(text, key, { algorithms: [alg] });
      return;
    } catch (error) {
      if (error instanceof jose().errors.JWSSignatureVerificationFailed) continue;
      throw verificationDenied("token", "the token is not well-formed", error);
    }
  }
  throw verificationDenied("signature", "failed to verify the signature");
}

// RFC 7519 §4.1.4 to §4.1.6.
const timeChecks: readonly (readonly [check: VerificationCheck, run: (claims: Claims, now: number) => void])[] = [
  ["exp", checkExpiry],
  ["nbf", ({ nbf }, now) => checkDue(nbf, now, "nbf", "the token is not valid yet")],
  ["iat", ({ iat }, now) => checkDue(iat, now, "iat", "the token is of the future")],
];

function checkExpiry({ exp }: Claims, now: number): void {
  if (!isTime(exp)) throw verificationDenied("exp", "the token has no time of expiry");
  const expiry = new Date(exp * 1000);
  if (expiry.getTime() <= now) {
    throw verificationDenied("exp", `token is expired (Token Expiry: ${expiry.toISOString()})`);
  }
}

function checkDue(time: unknown, now: number, check: VerificationCheck, problem: string): void {
  if (time === undefined || (isTime(time) && time * 1000 <= now + issuerSkewMs)) return;
  throw verificationDenied(check, problem);
}

/** Seconds since the epoch that a Date can hold. */
function isTime(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= 8.64e12;
}

/** Identities are looked for by it: one database refuses U+0000, and half a surrogate would be read as another character. */
function asText(value: unknown): string {
  return typeof value === "string" && value.isWellFormed() && !value.includes("\0") ? value : "";
}
