// Pages of lists that are remembered.
import type { Collection, ResourceRow } from "../collection/collection.ts";
import type { Session } from "../engine/session.ts";
import { countRows, type ListQuery, listRows, planRows } from "../list/list-rows.ts";
import type { OffsetIndex } from "../list/offset-index.ts";
import type { FilterResultCache } from "../list/range-plan.ts";
import { entryKeyOf } from "../list/source.ts";
import { bytesOf, type CacheableRead, type ReadCache } from "./read-cache.ts";

/** A page of a listing, with what a reply says besides. */
export interface ListedPage<R> {
  /** In order. Frozen where the page is remembered: the next reading answers the same list. */
  readonly rows: readonly R[];
  /** Whether rows follow it. */
  readonly hasMore: boolean;
  /** How many rows the whole listing has. */
  readonly total: number;
}

/** Reads pages, or remembers them. */
export interface PageCache {
  /** The page of at most `query.limit` rows, as of the snapshot of the session. */
  read<R extends ResourceRow>(session: Session, collection: Collection<R>, query: ListQuery): Promise<ListedPage<R>>;
}

/** Makes one that keeps its pages in a memory. */
export function newPageCache(memory: ReadCache, milestones: OffsetIndex, findings: FilterResultCache): PageCache {
  return {
    async read<R extends ResourceRow>(session: Session, collection: Collection<R>, query: ListQuery) {
      const reading = new PageRead(session, collection, query, milestones, findings);
      const mayChangeUnseen = query.condition !== undefined && query.condition.dependsOnRowsOnly !== true;
      if (collection.hasUnloggedColumns || mayChangeUnseen) return await reading.read();
      return await memory.get(session, reading);
    },
  };
}

// A class: closures in an object would outlive the request (docs/decisions/0019).
class PageRead<R extends ResourceRow> implements CacheableRead<ListedPage<R>> {
  readonly #session: Session;
  readonly #collection: Collection<R>;
  readonly #query: ListQuery;
  readonly #milestones: OffsetIndex;
  readonly #findings: FilterResultCache;
  #name: string | undefined;

  constructor(
    session: Session,
    collection: Collection<R>,
    query: ListQuery,
    milestones: OffsetIndex,
    findings: FilterResultCache,
  ) {
    this.#session = session;
    this.#collection = collection;
    this.#query = query;
    this.#milestones = milestones;
    this.#findings = findings;
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
    const plans = await planRows(session, this.#findings, collection, query);
    const planned = { ...query, plans, limit: query.limit + 1 };
    const found = await listRows(session, collection, planned, this.#milestones.find);
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
  // The values of a condition include what its finders look for.
  return JSON.stringify([kind, sources, filters, condition?.name, condition?.values, order, after, skip, limit]);
}
