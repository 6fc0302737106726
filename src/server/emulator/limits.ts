import { dayMs } from "../../base/clock.ts";

/** The limits of an emulator. Times are in milliseconds. */
export const emulatorLimits = {
  /** The bytes of a request to the control API. */
  bodyBytes: 64 * 1024,
  /** How far the clock may be ahead of the system's. */
  aheadMs: 3650 * dayMs,
  /** The faults of a tenant that wait for a call. */
  faults: 100,
  /** How many calls a fault applies to. */
  timesOfFault: 1_000_000,
  delayMs: 60_000,
  /** The lifetime of a token of an issuer. */
  tokenLifetimeMs: dayMs,
} as const;
