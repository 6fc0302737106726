// Fixtures for tests of tokens and keys: a store of keys in memory, a clock, and a signer of forged tokens.
import assert from "node:assert/strict";
import { createPrivateKey, sign } from "node:crypto";
import { ApiError, type Code } from "../../src/aip/errors.ts";
import type { KeyRing, KeyStore } from "../../src/authn/key-ring.ts";
import { openKeyRing } from "../../src/authn/key-ring.ts";
import type { KeyAlgorithm, KeyRecord } from "../../src/authn/signing-key.ts";
import type { TokenRequest } from "../../src/authn/token-claims.ts";
import { TokenError, type TokenErrorReason } from "../../src/authn/token-error.ts";
import { newTokens, type TokensOptions } from "../../src/authn/tokens.ts";
import type { Clock } from "../../src/base/clock.ts";

export const issuer = "https://gatehouse.example";
export const subject = `${"a1".repeat(20)}/${"b2".repeat(8)}`;
export const startTime = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
export const cooldownMs = 30_000;
/** So long that nothing but a store that never answers is given up. */
export const patienceMs = 30_000;

/** The smallest request there is. */
export const plainRequest: TokenRequest = {
  subject,
  audience: [issuer],
  act: { iss: "https://issuer.example", sub: "workload", aud: issuer },
  grants: {},
  narrowing: {},
};

/** A clock that stands still until it is turned. */
export interface TestClock {
  readonly read: Clock;
  advance(ms: number): void;
}

export function testClock(): TestClock {
  let now = startTime;
  return {
    read: () => now,
    advance: (ms) => {
      now += ms;
    },
  };
}

/** A store that counts how often it is read and fails while `failing` is set. */
export interface MemoryKeyStore extends KeyStore {
  records: KeyRecord[];
  reads: number;
  failing: boolean;
}

export function memoryKeyStore(records: readonly KeyRecord[] = []): MemoryKeyStore {
  return {
    records: [...records],
    reads: 0,
    failing: false,
    async list() {
      this.reads++;
      if (this.failing) throw new Error("the disk is gone");
      return [...this.records];
    },
    async add(records, retireOthersAt = Number.POSITIVE_INFINITY) {
      const others = this.records.map((other) => ({
        ...other,
        retireTime: earlier(other.retireTime, retireOthersAt),
      }));
      this.records = [...others, ...records];
    },
  };
}

function earlier(one: number | undefined, other: number): number | undefined {
  const time = Math.min(one ?? Number.POSITIVE_INFINITY, other);
  return Number.isFinite(time) ? time : undefined;
}

/** One node: a ring on a store, tokens on the ring. */
export async function openNode(
  algorithm: KeyAlgorithm,
  { store = memoryKeyStore(), clock = testClock(), ...options }: Partial<NodeOptions> = {},
) {
  const keys: KeyRing = await openKeyRing(store, {
    algorithm,
    clock: clock.read,
    refreshCooldownMs: cooldownMs,
    patienceMs,
    maxAgeMs: Number.POSITIVE_INFINITY,
  });
  const tokens = newTokens({ issuer, audiences: [issuer], keys, clock: clock.read, ...options });
  return { store, clock, keys, tokens };
}

interface NodeOptions extends Omit<TokensOptions, "clock" | "keys"> {
  readonly store: MemoryKeyStore;
  readonly clock: TestClock;
}

/** Signs any header and payload text with a stored key, however wrong they are. */
export function forge(record: KeyRecord, header: string | object, payload: string | object | Uint8Array): string {
  const input = `${segment(header)}.${segment(payload)}`;
  const key = createPrivateKey({ key: JSON.parse(record.privateJwk), format: "jwk" });
  return `${input}.${sign("sha256", Buffer.from(input), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

/** Returns the base64url of a text, of bytes, or of the JSON of an object. */
export function segment(content: string | object | Uint8Array): string {
  if (content instanceof Uint8Array) return Buffer.from(content).toString("base64url");
  return Buffer.from(typeof content === "string" ? content : JSON.stringify(content)).toString("base64url");
}

/** Returns the claims of a token that is good at `startTime`. */
export function goodClaims(changes: object = {}): Record<string, unknown> {
  const iat = Math.floor(startTime / 1000);
  const { act } = plainRequest;
  return { iss: issuer, sub: subject, aud: issuer, iat, exp: iat + 3600, jti: "1", act, cap: {}, ...changes };
}

/** The result of `openNode`. */
export type Node = Awaited<ReturnType<typeof openNode>>;

/** Returns the key that a node was opened with. */
export function recordOf({ store }: Node): KeyRecord {
  const [record] = store.records;
  assert.ok(record);
  return record;
}

/** Returns the header that the node itself would write, and more. */
export function headerOf(node: Node, more: object = {}): object {
  const { kid, algorithm } = recordOf(node);
  return { alg: algorithm, kid, typ: "JWT", ...more };
}

/** Returns a token that differs from a good one in its claims, signed as ours are. */
export function withClaims(node: Node, changes: object): string {
  return forge(recordOf(node), headerOf(node), goodClaims(changes));
}

/** Returns the reason why the node rejects a token, or "accepted". */
export async function reasonOf(node: Node, token: string): Promise<TokenErrorReason | "accepted"> {
  try {
    await node.tokens.verify(token);
    return "accepted";
  } catch (error) {
    if (error instanceof TokenError) return error.reason;
    throw error;
  }
}

/** The instant at which tokens are issued at `startTime`, in seconds. */
export const startSeconds = Math.floor(startTime / 1000);

/** For assert.rejects: an ApiError with a code and a message. */
export function isApiError(code: Code, message: RegExp) {
  return (error: unknown) => error instanceof ApiError && error.code === code && message.test(error.message);
}
