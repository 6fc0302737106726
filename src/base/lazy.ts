// What a start does not need, made or loaded when something first does.
import { createRequire } from "node:module";

/** Memoizes a function without parameters: runs it on the first call only. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Memoizes a function by the identity of its argument, for as long as that object is in memory. */
export function memoizeByObject<T extends object, M>(make: (from: T) => M): (from: T) => M {
  const made = new WeakMap<T, { readonly value: M }>();
  return (from) => {
    let known = made.get(from);
    if (!known) {
      known = { value: make(from) };
      made.set(from, known);
    }
    return known.value;
  };
}

/**
 * Loads modules on behalf of the one at this URL, at once, as `import` cannot. Types are the caller's to name.
 *
 * What loads modules of the project is called `load` and gets a literal: `src/bundle/build.js` looks for that.
 */
export const loader: (url: string) => (specifier: string) => never = createRequire as never;
