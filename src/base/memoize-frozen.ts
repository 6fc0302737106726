// What is frozen is shown again and again: what is made of it is made once.
import { oncePer } from "./lazy.ts";

/**
 * Makes something of objects or lists; of a frozen one once, and keeps it for as long as somebody has what it was made of. What
 * is frozen must stay as it is inside, too.
 */
export function onceFrozen<T extends object, M>(make: (from: T) => M): (from: T) => M {
  const once = oncePer(make);
  return (from) => (Object.isFrozen(from) ? once(from) : make(from));
}

/** Freezes what was made of something frozen: it will be shown again as well. */
export function freezeAs<M extends object>(from: object, made: M): M {
  return Object.isFrozen(from) ? Object.freeze(made) : made;
}
