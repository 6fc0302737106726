// Counts the shapes of presented tokens, and stores them: a new one with the next batch, its repetitions once a minute.
import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { rootOf } from "../model/uid.ts";
import type { Database } from "../storage/database.ts";
import type { WriteContext } from "../storage/engine/session.ts";
import { type SeenToken, type SeenTokenCaps, storeSeenTokens } from "../storage/iam/seen-tokens.ts";

/** A token with a valid signature that the rule of an identity was compared with. */
export interface PresentedToken {
  readonly identityUid: string;
  /** The stored claims, as JSON with sorted names. */
  readonly shape: string;
  /** The check that denied it; empty if it was accepted. */
  readonly failedCheck: string;
  /** Whether it was presented at the sign-in of the registry. */
  readonly isRegistry: boolean;
}

/** Limits of the stored shapes, and of those in memory. */
export interface TokenTallyLimits extends SeenTokenCaps {
  /** Shapes that wait to be stored: of all organizations, and of one. Further ones are not counted. */
  readonly waitingShapes: number;
  readonly waitingShapesOfOrganization: number;
}

/** How many shapes one transaction stores. */
const batchSize = 200;

/** How long repetitions of a stored shape wait. */
const repetitionMs = 60_000;

/** How many shapes are known to be stored recently. */
const maxKnown = 10_000;

/** The shapes that one process has yet to store. */
export class TokenTally {
  readonly #limits: TokenTallyLimits;
  readonly #waiting = new Map<string, SeenToken>();
  readonly #waitingOf = new Map<string, number>();
  /** When shapes were last stored. */
  readonly #stored = new LRUCache<string, number>({ max: maxKnown });

  /** Creates an empty tally. */
  constructor(limits: TokenTallyLimits) {
    this.#limits = limits;
  }

  /** Counts a token; `time` is in milliseconds since the epoch. */
  record({ shape, ...token }: PresentedToken, time: number): void {
    const digest = hash("sha256", `${token.isRegistry ? "registry" : "exchange"}\n${shape}`);
    const rootUid = rootOf(token.identityUid);
    this.#add({ ...token, digest, rootUid, claims: shape, count: 1, firstTime: time, lastTime: time });
  }

  #add(row: SeenToken): void {
    const key = keyOf(row);
    const known = this.#waiting.get(key);
    const ofOrganization = this.#waitingOf.get(row.rootUid) ?? 0;
    if (known) {
      this.#waiting.set(key, {
        ...known,
        failedCheck: row.failedCheck,
        count: known.count + row.count,
        firstTime: Math.min(known.firstTime, row.firstTime),
        lastTime: Math.max(known.lastTime, row.lastTime),
      });
    } else if (
      this.#waiting.size < this.#limits.waitingShapes &&
      ofOrganization < this.#limits.waitingShapesOfOrganization
    ) {
      this.#waiting.set(key, row);
      this.#waitingOf.set(row.rootUid, ofOrganization + 1);
    }
  }

  /** Removes the oldest shapes that are due, at most a batch. */
  #take(time: number): SeenToken[] {
    const taken: SeenToken[] = [];
    for (const [key, row] of this.#waiting) {
      if (time - (this.#stored.get(key) ?? Number.NEGATIVE_INFINITY) < repetitionMs) continue;
      taken.push(row);
      this.#waiting.delete(key);
      const left = this.#waitingOf.get(row.rootUid)! - 1;
      if (left > 0) this.#waitingOf.set(row.rootUid, left);
      else this.#waitingOf.delete(row.rootUid);
      if (taken.length === batchSize) break;
    }
    return taken;
  }

  /**
   * Stores a batch; pass infinity as `time` to store repetitions, too. Returns whether there may be another one. Rejects if the write
   * fails: those of the batch then wait behind the others.
   */
  async store(database: Pick<Database, "write">, context: WriteContext, time = context.time): Promise<boolean> {
    const rows = this.#take(time);
    if (rows.length === 0) return false;
    try {
      await database.write(context, (tx) => storeSeenTokens(tx, rows, this.#limits));
    } catch (error) {
      for (const row of rows) this.#add(row);
      throw error;
    }
    for (const row of rows) this.#stored.set(keyOf(row), context.time);
    return rows.length === batchSize;
  }
}

/** Tokens that are equal but for their outcome are counted apart. */
function keyOf({ identityUid, digest, failedCheck }: SeenToken): string {
  return `${identityUid} ${digest} ${failedCheck === ""}`;
}
