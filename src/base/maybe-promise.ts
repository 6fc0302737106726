// What may be there at once. To wait for what is there already costs a promise, the state of a function and a turn of the queue
// of microtasks, at each of the steps that a request takes.

/** What is there at once, or later; always to be awaited, or to be handed to the functions below. */
export type Soon<T> = PromiseLike<T> | T;

/** Goes on with a value: at once where it is there, later where it is not. What `next` throws is thrown, or rejected with. */
export function whenThere<T, U>(value: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return isLater(value) ? value.then(next) : next(value);
}

/** Whether a value has to be waited for. */
export function isLater<T>(value: Soon<T>): value is PromiseLike<T> {
  return typeof (value as PromiseLike<T> | undefined)?.then === "function";
}
