/** Returns the time in milliseconds since the epoch. Injected, so tests control it. */
export type Clock = () => number;

/** The system clock. */
export const systemClock: Clock = () => Date.now();

/** The tolerated difference between the clocks of nodes, in seconds. */
export const clockSkewSeconds = 30;
