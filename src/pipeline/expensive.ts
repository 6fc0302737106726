/** The handlers whose calls are expensive. */
const handlers = new WeakSet<object>();

/**
 * Declares that calls of a method may take long to compute, and returns its handler. They run one at a time for each caller, in slices,
 * and methods of our own packages have a budget (turns.ts). What they read of SQLite is read in a thread of its own.
 */
export function expensive<H extends object>(handler: H): H {
  handlers.add(handler);
  return handler;
}

/** Whether the calls of a handler are expensive. */
export function isExpensive(handler: object): boolean {
  return handlers.has(handler);
}

/** Declares that the calls of all methods of a service may take long to compute, and returns their handlers. */
export function allExpensive<H extends object>(all: H): H {
  for (const handler of Object.values(all)) handlers.add(handler as object);
  return all;
}
