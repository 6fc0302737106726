/** Returns the time in milliseconds since the epoch. Injected, so tests control it. */
export type Clock = () => number;

/** The system clock. */
export const systemClock: Clock = () => Date.now();

/** The tolerated difference between the clocks of nodes, in seconds. */
export const clockSkewSeconds = 30;

/** Lengths of time, in milliseconds. UTC has no other days. */
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
