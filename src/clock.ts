/** Tells the time in milliseconds since the epoch. Injected, so that tests own it. */
export type Clock = () => number;

/** The clock of the machine. */
export const systemClock: Clock = () => Date.now();
