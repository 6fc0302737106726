// A value that may be available synchronously. Awaiting one that is costs a promise and a microtask at every step of a request.

/** A value, or a promise of it. Await it, or pass it to the functions below. */
export type MaybePromise<T> = PromiseLike<T> | T;

/** Applies `next` to a value: synchronously if it is available, otherwise once its promise resolves. */
export function mapMaybe<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return isPromise(value) ? value.then(next) : next(value);
}

/** Returns whether a value has to be awaited. */
export function isPromise<T>(value: MaybePromise<T>): value is PromiseLike<T> {
  return typeof (value as PromiseLike<T> | undefined)?.then === "function";
}
