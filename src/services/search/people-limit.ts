// Limits how many searches for people a caller may make: their names must not be read one after the other by guessing.
import { rateLimited } from "../../aip/errors.ts";
import type { Clock } from "../../base/clock.ts";

const limits = {
  /** Searches of one caller in one organization, in a window. */
  searches: 60,
  windowMs: 60_000,
  /** Pairs of a caller and an organization that are counted; the one that began first is forgotten first. */
  counted: 10_000,
} as const;

/** Makes the function that counts a search. It throws RESOURCE_EXHAUSTED with RetryInfo beyond the limit. */
export function newPeopleLimit(clock: Clock): (callerUid: string, organization: string) => void {
  const windows = new Map<string, { readonly beganAt: number; searches: number }>();
  return (callerUid, organization) => {
    const key = `${callerUid} ${organization}`;
    const now = clock();
    const known = windows.get(key);
    const isOpen = known && now >= known.beganAt && now < known.beganAt + limits.windowMs;
    const window = isOpen ? known : { beganAt: now, searches: 0 };
    if (window.searches >= limits.searches)
      throw rateLimited(
        `a caller may search for people ${limits.searches} times a minute in an organization`,
        window.beganAt + limits.windowMs - now,
        "RATE_LIMITED",
      );
    window.searches++;
    if (isOpen) return;
    windows.delete(key);
    windows.set(key, window);
    const [oldest] = windows.keys();
    if (windows.size > limits.counted) windows.delete(oldest!);
  };
}
