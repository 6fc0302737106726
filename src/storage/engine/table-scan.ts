import type { MaybePromise } from "../../base/maybe-promise.ts";

/**
 * Yields a table in pages: memory does not grow with the database. `read` returns the first `size` rows after a
 * cursor, in cursor order; `start` is the cursor before all rows.
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
