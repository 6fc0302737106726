// The keys that our API tokens are signed with: kept in the database, shared by all nodes, rotated with overlap.
import { unavailable } from "../aip/errors.ts";
import type { Clock } from "../base/clock.ts";
import { newReader } from "../base/shared-reader.ts";
import {
  type KeyAlgorithm,
  type KeyRecord,
  type LoadedKey,
  loadKey,
  newKey,
  type PublicJwk,
  type SigningKey,
  type VerificationKey,
} from "./signing-key.ts";

/** Where keys are kept. */
export interface KeyStore {
  /** The records that are not retired yet, in any order; retired ones may be among them, and are passed over. */
  list(): Promise<KeyRecord[]>;
  /**
   * Adds a record and, in the same transaction, has all others retire at `retireOthersAt` (milliseconds since the
   * epoch); one that retires sooner keeps its time.
   */
  add(record: KeyRecord, retireOthersAt: number): Promise<void>;
}

/** How a ring of keys behaves. */
export interface KeyRingOptions {
  /** What new keys are made for. */
  readonly algorithm: KeyAlgorithm;
  readonly clock: Clock;
  /** At most one look into the store per this many milliseconds is made for unknown kids (security case T12). */
  readonly refreshCooldownMs: number;
  /**
   * How long the store is waited for: by a signature, which is then made with the key that is known, by a question about an
   * unknown kid, and by the next look into the store.
   */
  readonly patienceMs: number;
  /** How long before a call the keys may have been read by which its token is verified, in milliseconds. */
  readonly maxAgeMs: number;
}

/** The keys of this installation, as this node knows them. */
export interface KeyRing {
  /** Grows whenever a key came, went or was given another time to retire. */
  readonly generation: number;
  /**
   * The key to sign with: the newest that is not about to retire, as the store has it now, so that nothing is signed with a key
   * that another node has retired. While the store cannot be read in time, as this node knows it; UNAVAILABLE when it knows none.
   */
  signing(): Promise<SigningKey>;
  /** Whether the keys were read so lately that a token may be verified by them. */
  isCurrent(): boolean;
  /** Reads the store unless that is so. Rejects with UNAVAILABLE when the store cannot be read in time. */
  makeCurrent(): Promise<void>;
  /** A key that is known here and verifies; undefined otherwise. Never asks the store. */
  known(kid: string): VerificationKey | undefined;
  /** As `known`, after asking the store about an unknown kid; rejects with UNAVAILABLE when the store does not answer. */
  find(kid: string): Promise<VerificationKey | undefined>;
  /**
   * Makes a new key for signing; the others verify for `overlapMs` more. To lose no token in force, the overlap must
   * be an hour and as long as the slowest node takes to refresh; 0 retires a leaked key at once.
   */
  rotate(overlapMs: number): Promise<KeyRecord>;
  /** The public halves of all keys that verify, the newest first (RFC 7517 §5). */
  jwks(): { keys: PublicJwk[] };
  /** Reads the store again, to learn of rotations by other nodes. Rejects, changing nothing, if a key must be refused. */
  refresh(): Promise<void>;
}

// Two nodes that both start on an empty store both add a key: tokens by either outlive the hour they are made for.
const openingOverlapMs = 2 * 60 * 60 * 1000;

/** Opens the ring and makes a first key when the store has none to sign with the algorithm; rejects on a bad key. */
export async function openKeyRing(store: KeyStore, options: KeyRingOptions): Promise<KeyRing> {
  const view = keyView(store, options);
  const ring = keyRing(view, store, options);
  await ring.refresh();
  if (view.signing()?.algorithm !== options.algorithm) await ring.rotate(openingOverlapMs);
  return ring;
}

function keyRing(view: KeyView, store: KeyStore, options: KeyRingOptions): KeyRing {
  const { algorithm, clock, refreshCooldownMs, patienceMs } = options;
  let lastLookup = Number.NEGATIVE_INFINITY;
  let lookup: Promise<void> = Promise.resolve();
  return {
    get generation() {
      return view.generation();
    },
    async signing() {
      // What cannot be read is told by `refresh`, again and again. A token by a retired key is refused, and does no harm.
      await settled(view.latest(), patienceMs);
      const key = view.signing();
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
      // Within the cool-down everyone gets the outcome of the one look, a failure included.
      const outcome = await settled(lookup, patienceMs);
      // A look that was begun later may have come to an end before.
      if (!view.has(kid)) requireRead(outcome);
      return view.find(kid);
    },
    async rotate(overlapMs) {
      if (!(overlapMs >= 0 && overlapMs < Infinity)) throw new RangeError("overlapMs: must be 0 or more, and finite");
      const record = await newKey(algorithm, clock());
      await store.add(record, clock() + overlapMs);
      await view.latest();
      return record;
    },
    jwks: () => ({ keys: view.usable().map((key) => key.publicJwk) }),
    refresh: view.latest,
  };
}

/** What became of a promise. What comes too late has no cause. */
type Outcome = "fulfilled" | { readonly cause?: unknown };

function requireRead(outcome: Outcome): void {
  if (outcome !== "fulfilled") throw unavailable("the signing keys cannot be read", outcome.cause);
}

/** Waits until a promise is fulfilled or rejected, but no longer than that. */
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

/** What was last read of the store. */
function keyView(store: KeyStore, { clock, patienceMs, maxAgeMs }: Omit<KeyRingOptions, "algorithm">) {
  let keys: ReadonlyMap<string, LoadedKey> = new Map();
  let generation = 0;
  let begun = 0;
  /** Which reading the keys are of. */
  let shown = 0;

  const isUsable = (key: LoadedKey) => !isRetired(key, clock());
  const usable = () => [...keys.values()].filter(isUsable);

  async function read(): Promise<void> {
    const own = ++begun;
    const records = await store.list();
    // An older view never replaces a newer one.
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
    signing: () => usable().find((key) => key.retireTime === undefined),
    isCurrent: reader.isCurrent,
    current: async () => await reader.current(),
    latest: async () => await reader.latest(),
  };
}

/** Newest first. Retired keys are left out, and what is loaded already is not parsed again. */
function loadKeys(records: readonly KeyRecord[], loaded: ReadonlyMap<string, LoadedKey>, now: number) {
  const inForce = records.filter((record) => !isRetired(record, now));
  // The kid decides between keys of one millisecond, so that all nodes choose the same one.
  inForce.sort((a, b) => b.createTime - a.createTime || (a.kid < b.kid ? -1 : 1));
  return new Map(inForce.map((record) => [record.kid, reuse(loaded.get(record.kid), record) ?? loadKey(record)]));
}

function reuse(key: LoadedKey | undefined, record: KeyRecord): LoadedKey | undefined {
  return key?.algorithm === record.algorithm ? { ...key, retireTime: record.retireTime } : undefined;
}

function isRetired({ retireTime }: { readonly retireTime: number | undefined }, now: number): boolean {
  return retireTime !== undefined && now >= retireTime;
}

function stateOf(keys: ReadonlyMap<string, LoadedKey>): string {
  return JSON.stringify([...keys.values()].map((key) => [key.kid, key.retireTime ?? null]));
}
