// The key ring: the keys that sign our API tokens. Stored in the database, shared by all nodes, rotated with overlap.
import { unavailable } from "../aip/errors.ts";
import type { Clock } from "../base/clock.ts";
import { newReader } from "../base/shared-reader.ts";
import {
  type KeyAlgorithm,
  type KeyRecord,
  type LoadedKey,
  loadKey,
  type PublicJwk,
  type SigningKey,
  type VerificationKey,
} from "./signing-key.ts";
import {
  isRetired,
  newestInForce,
  newOwnKey,
  newSigningKeys,
  ownAlgorithm,
  ownKeyLifetime,
  type SigningPurpose,
  selectSigning,
} from "./signing-purposes.ts";

/** The storage of signing keys. */
export interface KeyStore {
  /**
   * Returns the records that are not retired, in any order. It may also return retired ones, which the key ring
   * ignores.
   */
  list(): Promise<KeyRecord[]>;
  /**
   * Adds records and, in the same transaction, retires all others at `retireOthersAt` (milliseconds since the epoch). A
   * key that retires sooner keeps its time, as do all if it is undefined.
   */
  add(records: readonly KeyRecord[], retireOthersAt: number | undefined): Promise<void>;
}

/** Options of a key ring. */
export interface KeyRingOptions {
  /** The algorithm of new keys that sign tokens for others. */
  readonly algorithm: KeyAlgorithm;
  readonly clock: Clock;
  /** The minimum interval in milliseconds between store reads for unknown key ids (security case T12). */
  readonly refreshCooldownMs: number;
  /**
   * How long to wait for the store: before signing with the known key, before reporting an unknown key id, and before
   * the next read of the store.
   */
  readonly patienceMs: number;
  /** How old the known keys may be, in milliseconds, when a token is verified. */
  readonly maxAgeMs: number;
}

/** The keys of this installation as this node knows them. */
export interface KeyRing {
  /** Increases whenever a key is added, removed or gets another retire time. */
  readonly generation: number;
  /**
   * Returns the newest key that signs tokens for a purpose. It is from a read of the store at most `maxAgeMs` ago: a
   * token that was signed with a key that another node has just retired is rejected. If the store does not respond in
   * time, returns the newest known key; UNAVAILABLE if none is known.
   */
  signing(purpose: SigningPurpose): Promise<SigningKey>;
  /** Reports whether the known keys are recent enough to verify tokens. */
  isCurrent(): boolean;
  /**
   * Reads the store unless the known keys are recent enough. Rejects with UNAVAILABLE if the store does not respond in
   * time.
   */
  makeCurrent(): Promise<void>;
  /** Returns a known verification key, or undefined. Never reads the store. */
  known(kid: string): VerificationKey | undefined;
  /**
   * Like `known`, but reads the store for an unknown key id. Rejects with UNAVAILABLE if the store does not respond.
   */
  find(kid: string): Promise<VerificationKey | undefined>;
  /**
   * Creates new signing keys, and returns that for others; the keys before stay valid for verification for `overlapMs`.
   * For all valid tokens to stay valid, the overlap must be one hour plus the time until the slowest node refreshes. 0
   * retires a leaked key at once.
   */
  rotate(overlapMs: number): Promise<KeyRecord>;
  /** When the key that signs tokens for others was made, in milliseconds since the epoch; undefined if none is known. Never reads the store. */
  signingSince(): number | undefined;
  /** Returns the public keys that verify tokens, newest first (RFC 7517 §5). */
  jwks(): { keys: PublicJwk[] };
  /**
   * Reads the store again to learn of rotations by other nodes, and adds a key for tokens of this service if the last is
   * missing or ends soon. Rejects, without changes, if a key is not acceptable.
   */
  refresh(): Promise<void>;
}

/**
 * How often a node adds a missing key for tokens of this service, in milliseconds. A rotation by a server of an earlier
 * release retires that key, too.
 */
const ownKeyIntervalMs = 60 * 60 * 1000;

// If two nodes start on an empty store, each adds a key. Tokens signed by either stay valid for their hour.
const openingOverlapMs = 2 * 60 * 60 * 1000;

/**
 * Opens the key ring. Creates the first key if the store has none for the algorithm. Rejects if a stored key is not
 * acceptable.
 */
export async function openKeyRing(store: KeyStore, options: KeyRingOptions): Promise<KeyRing> {
  const view = keyView(store, options);
  const ring = keyRing(view, store, options);
  await view.latest();
  if (view.signing("others")?.algorithm !== options.algorithm) await ring.rotate(openingOverlapMs);
  else await ring.refresh();
  return ring;
}

function keyRing(view: KeyView, store: KeyStore, options: KeyRingOptions): KeyRing {
  const { algorithm, clock, refreshCooldownMs, patienceMs } = options;
  let lastLookup = Number.NEGATIVE_INFINITY;
  let lookup: Promise<void> = Promise.resolve();
  const addOwnKey = ownKeyAdder(view, store, options);
  return {
    get generation() {
      return view.generation();
    },
    async signing(purpose) {
      // `refresh` reports read errors repeatedly. Tokens of a retired key are rejected in any case.
      if (!view.isCurrent()) await settled(view.current(), patienceMs);
      const key = view.signing(purpose);
      if (!key) throw unavailable("there is no signing key");
      return key;
    },
    isCurrent: view.isCurrent,
    async makeCurrent() {
      requireRead(await settled(view.current(), patienceMs));
    },
    known: view.find,
    async find(kid) {
      if (view.has(kid)) return view.find(kid);
      if (clock() - lastLookup >= refreshCooldownMs) {
        lastLookup = clock();
        lookup = view.latest();
      }
      // Within the cooldown all callers share the outcome of one read, including its failure.
      const outcome = await settled(lookup, patienceMs);
      // A later read may have finished first.
      if (!view.has(kid)) requireRead(outcome);
      return view.find(kid);
    },
    async rotate(overlapMs) {
      if (!(overlapMs >= 0 && overlapMs < Infinity)) throw new RangeError("overlapMs: must be 0 or more, and finite");
      const records = await newSigningKeys(algorithm, clock());
      await store.add(records, clock() + overlapMs);
      await view.latest();
      return records[0];
    },
    signingSince: () => view.signing("others")?.createTime,
    jwks: () => ({ keys: view.usable().map((key) => key.publicJwk) }),
    async refresh() {
      await view.latest();
      await addOwnKey();
    },
  };
}

/** Returns a function that adds a key for tokens of this service if there is none, or the last one ends soon. */
function ownKeyAdder(view: KeyView, store: KeyStore, { algorithm, clock }: KeyRingOptions): () => Promise<void> {
  let lastAdded = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = clock();
    const isMissing = algorithm !== ownAlgorithm && view.hasNoOwnKey();
    if (!isMissing || now - lastAdded < ownKeyIntervalMs) return;
    lastAdded = now;
    await store.add([await newOwnKey(now)], undefined);
    await view.latest();
  };
}

/** The outcome of a promise. A timeout has no cause. */
type Outcome = "fulfilled" | { readonly cause?: unknown };

function requireRead(outcome: Outcome): void {
  // The keys are read from the database only, and the log has the cause.
  if (outcome !== "fulfilled") throw unavailable("the database cannot serve now", outcome.cause);
}

/** Waits for a promise for at most `patienceMs`. */
async function settled(promise: PromiseLike<void>, patienceMs: number): Promise<Outcome> {
  const { promise: over, resolve } = Promise.withResolvers<Outcome>();
  const timer = setTimeout(() => resolve({}), patienceMs);
  promise.then(
    () => resolve("fulfilled"),
    (cause: unknown) => resolve({ cause }),
  );
  const outcome = await over;
  clearTimeout(timer);
  return outcome;
}

type KeyView = ReturnType<typeof keyView>;

/** The most recent successful read of the store. */
function keyView(store: KeyStore, { clock, patienceMs, maxAgeMs }: Omit<KeyRingOptions, "algorithm">) {
  let keys: ReadonlyMap<string, LoadedKey> = new Map();
  let generation = 0;
  let begun = 0;
  /** The number of the read that the keys are from. */
  let shown = 0;

  const isUsable = (key: LoadedKey) => !isRetired(key, clock());
  const usable = () => [...keys.values()].filter(isUsable);

  async function read(): Promise<void> {
    const own = ++begun;
    const records = await store.list();
    // An older read never replaces a newer one.
    if (own < shown) return;
    const next = loadKeys(records, keys, clock());
    shown = own;
    if (stateOf(next) === stateOf(keys)) return;
    keys = next;
    generation++;
  }
  const reader = newReader(read, { maxAgeMs, patienceMs });
  return {
    generation: () => generation,
    has: (kid: string) => keys.has(kid),
    find(kid: string): LoadedKey | undefined {
      const key = keys.get(kid);
      return key && isUsable(key) ? key : undefined;
    },
    usable,
    signing: (purpose: SigningPurpose) => selectSigning(usable(), purpose, clock()),
    hasNoOwnKey: () => selectSigning(usable(), "own", clock() + ownKeyLifetime.renewalMs)?.algorithm !== ownAlgorithm,
    isCurrent: reader.isCurrent,
    current: async () => await reader.current(),
    latest: async () => await reader.latest(),
  };
}

/** Returns the keys, newest first, without retired ones. Reuses keys that are parsed already. */
function loadKeys(records: readonly KeyRecord[], loaded: ReadonlyMap<string, LoadedKey>, now: number) {
  const inForce = newestInForce(records, now);
  return new Map(inForce.map((record) => [record.kid, reuse(loaded.get(record.kid), record) ?? loadKey(record)]));
}

function reuse(key: LoadedKey | undefined, record: KeyRecord): LoadedKey | undefined {
  return key?.algorithm === record.algorithm ? { ...key, retireTime: record.retireTime } : undefined;
}

function stateOf(keys: ReadonlyMap<string, LoadedKey>): string {
  return JSON.stringify([...keys.values()].map((key) => [key.kid, key.retireTime ?? null]));
}
