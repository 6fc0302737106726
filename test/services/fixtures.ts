import { type Clock, systemClock } from "../../src/base/clock.ts";

/** A clock that a test moves. */
export interface TestClock {
  readonly read: Clock;
  advance(milliseconds: number): void;
}

/** Returns a clock that begins now and stands still until it is moved. */
export function testClock(): TestClock {
  let now = systemClock();
  return {
    read: () => now,
    advance(milliseconds) {
      now += milliseconds;
    },
  };
}

export const hourMs = 60 * 60 * 1000;
export const dayMs = 24 * hourMs;
