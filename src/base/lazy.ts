// Memoization: values that are computed on first use.

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

/** Memoizes an asynchronous function without parameters until it rejects: the next call tries again. */
export function onceLoaded<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load().catch((error) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}
