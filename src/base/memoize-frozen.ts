// Memoizes what is computed from frozen objects. Cached rows and pages are frozen, so their messages and JSON are built once.
import { memoizeByObject } from "./lazy.ts";

/**
 * Memoizes `make` for frozen objects and lists, for as long as they are in memory; for others, it runs on every call. What is
 * frozen must not change inside either.
 */
export function memoizeFrozen<T extends object, M>(make: (from: T) => M): (from: T) => M {
  const memoized = memoizeByObject(make);
  return (from) => (Object.isFrozen(from) ? memoized(from) : make(from));
}

/** Freezes `made` if `from`, the object that it was computed from, is frozen. */
export function freezeLike<M extends object>(from: object, made: M): M {
  return Object.isFrozen(from) ? Object.freeze(made) : made;
}
