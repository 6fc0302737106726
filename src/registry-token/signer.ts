// Signs registry tokens with a key of their own, so an API token never passes for a registry token or vice versa. The
// key survives rotations of the API's keys, because registries know it from a certificate file.
import { hash, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { signJws } from "../authn/jws.ts";
import { loadKey, newKey, type PublicJwk, type SigningKey } from "../authn/signing-key.ts";
import type { Clock } from "../base/clock.ts";
import { onceLoaded } from "../base/lazy.ts";
import type { Database } from "../storage/database.ts";
import type { Encryption } from "../storage/installation/encryption.ts";
import { getOrSetSecret, readSecret } from "../storage/installation/secret-settings.ts";
import { newCertificate, publicKeyInfo } from "./certificate.ts";

/** The actions that a token allows on one resource (Distribution token specification, "access"). */
export interface Grant {
  readonly type: string;
  readonly name: string;
  readonly actions: readonly string[];
}

/** The content of a new token. */
export interface RegistryTokenRequest {
  readonly subject: string;
  readonly access: readonly Grant[];
  /** Milliseconds since the epoch: the token expires then if that is before its five minutes end. */
  readonly notAfter: number;
}

/** A signed token. */
export interface RegistryToken {
  readonly token: string;
  /** When it was returned, in seconds since the epoch: it may be 30 seconds older. */
  readonly issuedAt: number;
  /** The seconds from then to its expiry. */
  readonly expiresIn: number;
}

/** Signs registry tokens. */
export interface RegistrySigner {
  /** Returns the certificate in PEM, for `rootcertbundle`. */
  certificate(): Promise<string>;
  /** Returns the public key, for registries that read a key set. */
  jwks(): Promise<{ readonly keys: readonly PublicJwk[] }>;
  sign(request: RegistryTokenRequest): Promise<RegistryToken>;
}

/** The issuer and audience of tokens. */
export interface SignerOptions {
  readonly issuer: string;
  /** The audience of all tokens: the service name of the registry. */
  readonly service: string;
  readonly clock: Clock;
}

/**
 * The lifetime of a token in seconds: how long a revoked role binding still works at the registry. Clients expect at
 * least 60.
 */
const lifetime = 300;

/** How much sooner a token may expire that is given again for the same access, in seconds: an RSA signature takes longer than all else of a sign-in. */
const reuseSeconds = 30;

/** How many tokens are kept for that. The one used longest ago is forgotten first, and longer ones are not kept. */
const kept = { tokens: 1_000, length: 8_192 };

/** The tolerated lag of a registry's clock, in seconds. */
const clockSkewSeconds = 30;

const settingName = "registry_signing_key" as const;

/** Opens the signer. Its key is created at the first start and shared by all nodes. */
export async function openRegistrySigner(
  database: Database,
  encryption: Encryption,
  options: SignerOptions,
): Promise<RegistrySigner> {
  const known = await readSecret(database.session, encryption, settingName);
  const stored = known ?? (await makeKey(database, encryption, options.clock));
  const { certificate, ...record } = JSON.parse(stored);
  const { privateKey, publicJwk, algorithm } = loadKey({ ...record, retireTime: undefined });
  const key: SigningKey = { kid: keyId(publicKeyInfo(privateKey)), algorithm, privateKey };
  return {
    certificate: async () => certificate,
    jwks: async () => ({ keys: [{ ...publicJwk, kid: key.kid }] }),
    sign: newSigning(key, options),
  };
}

/** Returns a signer that is opened by its first use. */
export function lateSigner(open: () => Promise<RegistrySigner>): RegistrySigner {
  const signer = onceLoaded(open);
  return {
    certificate: async () => await (await signer()).certificate(),
    jwks: async () => await (await signer()).jwks(),
    sign: async (request) => await (await signer()).sign(request),
  };
}

async function makeKey(database: Database, encryption: Encryption, clock: Clock): Promise<string> {
  const { retireTime: _, ...record } = await newKey("RS256", clock());
  const { privateKey } = loadKey({ ...record, retireTime: undefined });
  const certificate = await newCertificate(privateKey, "Gatehouse registry tokens", clock());
  const value = JSON.stringify({ ...record, certificate });
  const context = { actor: "", method: "start", requestId: "", time: clock() };
  return await database.write(context, (tx) => getOrSetSecret(tx, encryption, settingName, value));
}

/** A signed token, and when it expires, in seconds since the epoch. */
interface SignedToken {
  readonly token: string;
  readonly expiry: number;
}

/** Returns the function that signs tokens. The same access of the same subject gets the same token again for `reuseSeconds`. */
function newSigning(key: SigningKey, options: SignerOptions): RegistrySigner["sign"] {
  const recent = new LRUCache<string, SignedToken>({ max: kept.tokens });
  return async (request) => {
    const now = Math.floor(options.clock() / 1000);
    const name = JSON.stringify([request.subject, request.access]);
    const known = recent.get(name);
    const expiry = expiryAt(now, request);
    // Other credentials of the subject may have ended sooner, or end sooner now.
    const isGood = known && known.expiry <= expiry && expiry - known.expiry < reuseSeconds;
    const signed = isGood ? known : await signToken(key, request, options, now);
    if (name.length + signed.token.length <= kept.length) recent.set(name, signed);
    return { token: signed.token, issuedAt: now, expiresIn: signed.expiry - now };
  };
}

async function signToken(
  key: SigningKey,
  request: RegistryTokenRequest,
  { issuer, service }: SignerOptions,
  issuedAt: number,
): Promise<SignedToken> {
  const expiry = expiryAt(issuedAt, request);
  const claims = {
    iss: issuer,
    sub: request.subject,
    // Distribution before version 3 accepts only a text.
    aud: service,
    exp: expiry,
    nbf: issuedAt - clockSkewSeconds,
    iat: issuedAt,
    jti: randomBytes(16).toString("base64url"),
    access: request.access,
  };
  return { token: await signJws(claims, key), expiry };
}

/** Returns when a token that is signed now expires, in seconds since the epoch. */
function expiryAt(now: number, { notAfter }: RegistryTokenRequest): number {
  return Math.min(now + lifetime, Math.floor(notAfter / 1000));
}

/** Returns the key id that Distribution 2 uses in its bundle: the first 240 bits of the key's digest, in twelve groups. */
function keyId(publicKey: Buffer): string {
  const digest = hash("sha256", publicKey, "buffer").subarray(0, 30);
  return (toBase32(digest).match(/.{4}/g) ?? []).join(":");
}

// RFC 4648 §6. The length is a multiple of five, so there is no padding.
function toBase32(bytes: Buffer): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{5}/g) ?? []).map((group) => alphabet[Number.parseInt(group, 2)]).join("");
}
