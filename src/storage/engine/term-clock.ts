// The clock by which the terms of role bindings begin and end. Servers that share PostgreSQL use its time, so all of them end a binding
// at the same moment even if their own clocks differ. On SQLite it is the time of the system.
import type { Clock } from "../../base/clock.ts";
import type { TermTime } from "./session.ts";

/** The clock of terms of one process. It never goes back, so what has ended stays ended. */
export interface TermClock extends TermTime {
  /** Sets the clock by the time of the database. `startedAt` is when the read began, by `performance.now()`. */
  observe(databaseTime: number, startedAt: number): void;
}

/** Creates a clock that follows another one. Ignores the time of the database. */
export function followingClock(clock: Clock): TermClock {
  let latest = 0;
  return {
    termTime: () => (latest = Math.max(latest, clock())),
    observe: () => {},
  };
}

/**
 * Creates a clock that follows the time of the database. It adds the time since the *start* of the last read, so it is ahead of the
 * database by at most one round trip, and never behind: terms never end late.
 */
export function databaseClock(system: Clock): TermClock {
  let offset: number | undefined;
  let latest = 0;
  return {
    termTime() {
      // No call is authorized before the first read.
      if (offset === undefined) return system();
      latest = Math.max(latest, Math.floor(performance.now() + offset));
      return latest;
    },
    observe(databaseTime, startedAt) {
      offset = databaseTime - startedAt;
    },
  };
}
