// Pages of lists that are remembered.
import type { Collection, ResourceRow } from "./collection.ts";
import type { FindingMemory } from "./finder.ts";
import { countRows, type ListQuery, listRows, planRows } from "./listing.ts";
import type { Milestones } from "./milestones.ts";
import { keyOf } from "./range.ts";
import { bytesOf, type ReadMemory } from "./read-memory.ts";
import type { Session } from "./session.ts";

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
export interface PageMemory {
  /** The page of at most `query.limit` rows, as of the snapshot of the session. */
  read<R extends ResourceRow>(session: Session, collection: Collection<R>, query: ListQuery): Promise<ListedPage<R>>;
}

/** Makes one that keeps its pages in a memory. */
export function newPageMemory(memory: ReadMemory, milestones: Milestones, findings: FindingMemory): PageMemory {
  async function fetch<R extends ResourceRow>(
    session: Session,
    collection: Collection<R>,
    query: ListQuery,
  ): Promise<ListedPage<R>> {
    const plans = await planRows(session, findings, collection, query);
    const planned = { ...query, plans, limit: query.limit + 1 };
    const found = await listRows(session, collection, planned, milestones.find);
    const total = await countRows(session, collection, planned);
    return { rows: found.slice(0, query.limit), hasMore: found.length > query.limit, total };
  }

  return {
    async read<R extends ResourceRow>(session: Session, collection: Collection<R>, query: ListQuery) {
      const mayChangeUnseen = query.condition !== undefined && query.condition.followsRows !== true;
      if (collection.isTouched || mayChangeUnseen) return await fetch(session, collection, query);
      return await memory.recall<ListedPage<R>>(session, {
        kind: collection.kind,
        name: nameOf(collection.kind, query),
        places: () => query.sources.map((source) => (source.type === "row" ? source.uid : keyOf(source))),
        read: () => fetch(session, collection, query),
        bytesOf: ({ rows }) => bytesOf(rows) * (collection.weight ?? 1),
        freeze: ({ rows }) => Object.freeze(rows),
      });
    },
  };
}

function nameOf(kind: string, { sources, filters, condition, order, after, skip, limit }: ListQuery): string {
  // The values of a condition include what its finders look for.
  return JSON.stringify([kind, sources, filters, condition?.name, condition?.values, order, after, skip, limit]);
}
