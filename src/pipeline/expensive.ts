import type { Message } from "@bufbuild/protobuf";

/** Whether the call with a request is expensive. */
type IsExpensive = (request: Message) => boolean;

const always: IsExpensive = () => true;

/** The handlers with expensive calls. */
const handlers = new WeakMap<object, IsExpensive>();

/** Those whose calls take nothing of the budget of their caller. */
const withoutBudget = new WeakSet<object>();

/**
 * Declares that calls of a method may take long to compute: all of them, or those with some requests. Returns its handler. They run one at a
 * time for each caller, in slices, and methods of our own packages have a budget (turns.ts). What they read of SQLite is read in a thread.
 */
export function expensive<H extends object>(handler: H, when: (request: never) => boolean = always): H {
  handlers.set(handler, when as IsExpensive);
  return handler;
}

/** Declares that the calls of all methods of a service may take long to compute, and returns their handlers. */
export function allExpensive<H extends object>(all: H): H {
  for (const handler of Object.values(all)) handlers.set(handler as object, always);
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

/** Returns whether all calls of a handler are expensive. */
export function isAlwaysExpensive(handler: object): boolean {
  return handlers.get(handler) === always;
}

/** The rows that a page of a list may skip before its call is expensive. */
const fewSkipped = 1_000;

/** Returns whether calls of a handler are expensive, by their requests: the declared ones, and pages far behind the beginning of a list. */
export function isExpensive(handler: object): IsExpensive {
  const isDeclared = handlers.get(handler);
  return (request) => isDeclared?.(request) || skippedBy(request) > fewSkipped;
}

function skippedBy(request: Message): number {
  const { skip = 0 } = request as Message & { readonly skip?: unknown };
  return typeof skip === "number" ? skip : 0;
}
