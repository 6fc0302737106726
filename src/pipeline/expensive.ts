import type { Message } from "@bufbuild/protobuf";

/** Whether the call with a request is expensive. */
type IsExpensive = (request: Message) => boolean;

/** The handlers with expensive calls. */
const handlers = new WeakMap<object, IsExpensive>();

/** Those whose calls take nothing of the budget of their caller. */
const withoutBudget = new WeakSet<object>();

const never: IsExpensive = () => false;

/**
 * Declares that calls of a method may take long to compute: all of them, or those with some requests. Returns its handler. They run one at a
 * time for each caller, in slices, and methods of our own packages have a budget (turns.ts). What they read of SQLite is read in a thread.
 */
export function expensive<H extends object>(handler: H, when: (request: never) => boolean = () => true): H {
  handlers.set(handler, when as IsExpensive);
  return handler;
}

/** Declares that the calls of all methods of a service may take long to compute, and returns their handlers. */
export function allExpensive<H extends object>(all: H): H {
  for (const handler of Object.values(all)) handlers.set(handler as object, () => true);
  return all;
}

/**
 * Declares that the calls of lists may take long to compute, and returns their handlers. They have no budget: a client that reads a list
 * to its end, such as an export, would wait between any two pages. One page of a caller is computed at a time.
 */
export function expensivePages<H extends object>(lists: H): H {
  for (const handler of Object.values(lists)) withoutBudget.add(handler as object);
  return allExpensive(lists);
}

/** Returns whether calls of a handler may have a budget. */
export function mayHaveBudget(handler: object): boolean {
  return !withoutBudget.has(handler);
}

/** Returns whether calls of a handler are expensive, by their requests. */
export function isExpensive(handler: object): IsExpensive {
  return handlers.get(handler) ?? never;
}
