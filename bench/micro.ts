// Measures operations inside one process.
import { median } from "./statistics.ts";

/** Something short that is done again and again. */
export interface Operation {
  readonly name: string;
  run(): unknown;
}

/** The measured cost of one operation. */
export interface MicroRow {
  readonly name: string;
  readonly micros: number;
  /** The speed relative to the baseline, which is 1: the median of the rounds' ratios. */
  readonly ratio: number;
}

const rounds = 5;
const roundMs = 100;
const warmUpMs = 200;

/** Runs all operations in turn, several times, and answers medians. */
export async function measureMicros(operations: readonly Operation[], baseline: string): Promise<MicroRow[]> {
  for (const operation of operations) await timeOf(operation, warmUpMs);
  const samples = new Map<string, number[]>(operations.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const operation of operations) samples.get(operation.name)?.push(await timeOf(operation, roundMs));
  }
  const base = samples.get(baseline) ?? [];
  return operations.map(({ name }) => {
    const own = samples.get(name) ?? [];
    return { name, micros: median(own), ratio: median(own.map((micros, round) => (base[round] ?? 0) / micros)) };
  });
}

/** Microseconds per run. */
async function timeOf({ run }: Operation, milliseconds: number): Promise<number> {
  const startedAt = performance.now();
  let runs = 0;
  let elapsed = 0;
  for (; elapsed < milliseconds; elapsed = performance.now() - startedAt) {
    // Reading the clock after every run would be a good part of the shortest ones.
    for (let i = 0; i < 10; i++) {
      const outcome = run();
      if (outcome instanceof Promise) await outcome;
    }
    runs += 10;
  }
  return (elapsed * 1000) / runs;
}
