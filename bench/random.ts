// Random numbers that a seed repeats: SHA-256 over the seed and a counter.
import { hash } from "node:crypto";

/** A source of numbers that are the same for the same seed. */
export interface Random {
  /** So many bytes, at most 32, in hexadecimal. */
  hex(bytes: number): string;
  /** Returns a whole number from 0 to `bound` - 1; `bound` is at most 2^32. */
  below(bound: number): number;
  /** One of the items, which must not be empty. */
  pick<T>(items: readonly T[]): T;
}

/** Makes a source from a seed. */
export function newRandom(seed: string): Random {
  let block = 0;
  let pool = "";

  function hex(bytes: number): string {
    if (pool.length < 2 * bytes) pool = hash("sha256", `${seed}:${block++}`, "hex");
    const taken = pool.slice(0, 2 * bytes);
    pool = pool.slice(2 * bytes);
    return taken;
  }

  const below = (bound: number): number => Number.parseInt(hex(4), 16) % bound;
  return { hex, below, pick: (items) => items[below(items.length)]! };
}
