/** Tells the time in milliseconds since the epoch. Injected, so that tests own it. */
export type Clock = () => number;

/** The clock of the machine. */
export const systemClock: Clock = () => Date.now();

/** How far the clocks of our nodes may differ, in seconds. */
export const clockSkewSeconds = 30;
