import type { MaybePromise } from "../../base/maybe-promise.ts";

/**
 * Goes through a whole table page by page, so that memory does not grow with the database.
 *
 * `read` answers the first `size` rows behind a place, in the order of their places; `start` is the place before all of them.
 */
export async function* scanTable<R, P>(
  size: number,
  start: P,
  read: (after: P) => MaybePromise<readonly R[]>,
  placeOf: (row: R) => P,
): AsyncGenerator<readonly R[]> {
  let after = start;
  for (;;) {
    const page = await read(after);
    yield page;
    const last = page.at(-1);
    if (page.length < size || last === undefined) return;
    after = placeOf(last);
  }
}
