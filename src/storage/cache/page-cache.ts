// Caches pages of lists.
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { Collection, ResourceRow } from "../collection/collection.ts";
import type { Session } from "../engine/session.ts";
import { countRows, type ListQuery, listRows, planRows } from "../list/list-rows.ts";
import type { OffsetIndex } from "../list/offset-index.ts";
import type { FilterResultCache } from "../list/range-plan.ts";
import { listByRole } from "../list/role-order.ts";
import { entryKeyOf } from "../list/source.ts";
import { bytesOf, type CacheableRead, type ReadCache } from "./read-cache.ts";

/** A page of a list. */
export interface ListedPage<R> {
  /** In order. Frozen if the page is cached: the next read returns the same array. */
  readonly rows: readonly R[];
  /** Whether more rows follow. */
  readonly hasMore: boolean;
  /** The total number of rows of the list. */
  readonly total: number;
}

/** Reads pages from the cache or the database. */
export interface PageCache {
  /** Returns the page of at most `query.limit` rows in the snapshot of the session. */
  read<R extends ResourceRow>(session: Session, collection: Collection<R>, query: ListQuery): Promise<ListedPage<R>>;
  /** Returns the page if it is cached, as of the data version of the session. */
  find<R extends ResourceRow>(
    session: Session,
    collection: Collection<R>,
    query: ListQuery,
  ): MaybePromise<ListedPage<R> | undefined>;
}

/** Creates a page cache that keeps its entries in `cache`. */
export function newPageCache(cache: ReadCache, offsets: OffsetIndex, filterResults: FilterResultCache): PageCache {
  return {
    async read<R extends ResourceRow>(session: Session, collection: Collection<R>, query: ListQuery) {
      const reading = new PageRead(session, collection, query, offsets, filterResults);
      return await (isLogged(collection, query) ? cache.get(session, reading) : reading.read());
    },
    find<R extends ResourceRow>(session: Session, collection: Collection<R>, query: ListQuery) {
      if (!isLogged(collection, query)) return undefined;
      return cache.find(session, new PageRead(session, collection, query, offsets, filterResults));
    },
  };
}

/** Returns whether every change of the page is in the change log. */
export function isLogged<R extends ResourceRow>(
  collection: Collection<R>,
  { condition, order }: Pick<ListQuery, "condition"> & Partial<Pick<ListQuery, "order">>,
): boolean {
  // The name of a role changes with the role.
  const mayChangeUnseen =
    (condition !== undefined && condition.dependsOnRowsOnly !== true) || order?.field === "roleName";
  return !collection.unloggedColumns && !mayChangeUnseen;
}

// A class, because closures would outlive the request (docs/decisions/0019).
class PageRead<R extends ResourceRow> implements CacheableRead<ListedPage<R>> {
  readonly #session: Session;
  readonly #collection: Collection<R>;
  readonly #query: ListQuery;
  readonly #offsets: OffsetIndex;
  readonly #filterResults: FilterResultCache;
  #name: string | undefined;

  constructor(
    session: Session,
    collection: Collection<R>,
    query: ListQuery,
    offsets: OffsetIndex,
    filterResults: FilterResultCache,
  ) {
    this.#session = session;
    this.#collection = collection;
    this.#query = query;
    this.#offsets = offsets;
    this.#filterResults = filterResults;
  }

  get kind(): string {
    return this.#collection.kind;
  }

  get key(): string {
    this.#name ??= nameOf(this.kind, this.#query);
    return this.#name;
  }

  dependencies(): readonly string[] {
    return this.#query.sources.map((source) => (source.type === "row" ? source.uid : entryKeyOf(source)));
  }

  async read(): Promise<ListedPage<R>> {
    const [session, collection, query] = [this.#session, this.#collection, this.#query];
    const plans = await planRows(session, this.#filterResults, collection, query);
    const planned = { ...query, plans, limit: query.limit + 1 };
    const found =
      query.order.field === "roleName"
        ? await listByRole(session, collection, planned)
        : await listRows(session, collection, planned, this.#offsets.find);
    const total = await countRows(session, collection, planned);
    return { rows: found.slice(0, query.limit), hasMore: found.length > query.limit, total };
  }

  bytesOf({ rows }: ListedPage<R>): number {
    return bytesOf(rows) * (this.#collection.responseWeight ?? 1);
  }

  freeze({ rows }: ListedPage<R>): void {
    Object.freeze(rows);
  }
}

function nameOf(kind: string, { sources, filters, condition, order, after, skip, limit }: ListQuery): string {
  // The values of a condition include those of its indexes.
  return JSON.stringify([kind, sources, filters, condition?.name, condition?.values, order, after, skip, limit]);
}
