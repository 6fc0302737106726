// Pseudo-random numbers that a seed repeats.

/** Returns a whole number from 0 to `below` - 1. */
export type Random = (below: number) => number;

/** Creates a generator. Different streams of one seed are independent. */
export function newRandom(seed: number, stream: number): Random {
  let state = Math.imul(seed ^ Math.imul(stream + 1, 0x9e3779b1), 0x85ebca6b) >>> 0;
  // mulberry32, which is public domain.
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** Returns one of the values. */
export function pick<T>(random: Random, values: readonly T[]): T {
  return values[random(values.length)]!;
}
