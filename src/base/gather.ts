// Gathers calls: one run serves many of them.

/** Serves a call: adds its keys to the next run, and returns the result of that run. */
export type Gatherer<K, V> = (keys: Iterable<K>) => Promise<V>;

/**
 * Creates a gatherer. A run begins after the calls of an event-loop tick, once the run before it has ended; so it always
 * begins after the calls that it serves. A run has up to `maxKeys` keys, and those of one more call. If it rejects, so do
 * its calls.
 */
export function newGatherer<K, V>(run: (keys: ReadonlySet<K>) => Promise<V>, maxKeys: number): Gatherer<K, V> {
  let next: { readonly keys: Set<K>; readonly result: Promise<V> } | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function startAfter(previous: Promise<unknown>, keys: Set<K>): Promise<V> {
    await previous;
    await new Promise((resolve) => setImmediate(resolve));
    // Later calls must not join a run that has begun.
    if (next?.keys === keys) next = undefined;
    return await run(keys);
  }

  return (keys) => {
    if (!next || next.keys.size >= maxKeys) {
      const gathered = new Set<K>();
      const result = startAfter(last, gathered);
      last = result.catch(() => {});
      next = { keys: gathered, result };
    }
    for (const key of keys) next.keys.add(key);
    return next.result;
  };
}
