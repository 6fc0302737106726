// Gathers calls: one run serves many of them.

/** Serves a call: adds its keys to the next run, and returns the result of that run. */
export type Gatherer<K, V> = (keys: Iterable<K>) => Promise<V>;

/** Limits of a gatherer. */
export interface GathererLimits {
  /** How many keys a run has, in addition to those of one more call. */
  readonly maxKeys: number;
  /** How long a run waits for the one before it, in milliseconds; until that one ends if absent. */
  readonly patienceMs?: number;
  /**
   * Whether a run begins once all promises that need no I/O are settled, instead of after the calls of an event-loop tick;
   * false if absent.
   */
  readonly isEager?: boolean;
}

/**
 * Creates a gatherer. A run begins after the calls of an event-loop tick, once the run before it has ended; so it always
 * begins after the calls that it serves. If it rejects, so do its calls.
 */
export function newGatherer<K, V>(
  run: (keys: ReadonlySet<K>) => Promise<V>,
  { maxKeys, patienceMs, isEager = false }: GathererLimits,
): Gatherer<K, V> {
  let next: { readonly keys: Set<K>; readonly result: Promise<V> } | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function startAfter(previous: Promise<unknown>, keys: Set<K>): Promise<V> {
    await endOrPause(previous, patienceMs);
    await new Promise<void>((resolve) => (isEager ? process.nextTick(resolve) : setImmediate(resolve)));
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

/** Waits for the end of a run, for at most `pauseMs` if it is given. */
async function endOrPause(run: Promise<unknown>, pauseMs: number | undefined): Promise<void> {
  if (pauseMs === undefined) return void (await run);
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, pauseMs);
  run.then(() => resolve());
  await promise;
  clearTimeout(timer);
}
