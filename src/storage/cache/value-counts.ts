// Caches the counts of rows by value.
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { Collection, ResourceRow } from "../collection/collection.ts";
import type { Session } from "../engine/session.ts";
import { countValues, type ValueCounts, type ValueQuery } from "../list/count-values.ts";
import type { FilterResultCache } from "../list/range-plan.ts";
import { entryKeyOf } from "../list/source.ts";
import { isLogged } from "./page-cache.ts";
import type { ReadCache } from "./read-cache.ts";

/** Returns the counts of a list from the cache or the database, in the snapshot of the session. */
export type ReadValueCounts = <R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  query: ValueQuery,
) => MaybePromise<ValueCounts>;

/** Creates the reader of counts, which keeps its entries in `cache`. */
export function newValueCounts(cache: ReadCache, filterResults: FilterResultCache): ReadValueCounts {
  return (session, collection, query) => {
    const { sources, filters, condition, counted, maxRows } = query;
    const read = () => countValues(session, filterResults, collection, query);
    if (!isLogged(collection, query)) return read();
    return cache.get(session, {
      kind: collection.kind,
      key: JSON.stringify(["values", collection.kind, counted.name, maxRows, sources, filters, condition?.values]),
      dependencies: () => sources.map((source) => (source.type === "row" ? source.uid : entryKeyOf(source))),
      read,
      bytesOf: ({ values }) => 100 + values.length * 100,
      // The type is read-only, and nothing is memoized by it.
      freeze() {},
    });
  };
}
