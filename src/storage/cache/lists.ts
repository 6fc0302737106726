// Reads pages of lists: the offset index, a snapshot and the page cache, in the right order.
import { once } from "../../base/lazy.ts";
import type { Collection, ResourceRow } from "../collection/collection.ts";
import { readCounter } from "../engine/counters.ts";
import type { Session } from "../engine/session.ts";
import type { ValueCounts, ValueQuery } from "../list/count-values.ts";
import { type ListQuery, prepareSkip } from "../list/list-rows.ts";
import type { OffsetIndex } from "../list/offset-index.ts";
import type { Cursor, Order } from "../list/order.ts";
import type { Range } from "../list/range.ts";
import { entryKeyOf, type RangeSource } from "../list/source.ts";
import { isLogged, type ListedPage, type PageCache } from "./page-cache.ts";
import type { ReadValueCounts } from "./value-counts.ts";

/** A page, and the value made of its rows in the same snapshot. */
export interface FilledPage<R, T> extends ListedPage<R> {
  readonly items: T;
}

/**
 * Makes something of the rows of a page, with further reads if needed. All changes of what it reads must be in the change
 * log, unless the collection has `showsUnlogged`.
 */
export type FillPage<R, T> = (session: Session, rows: readonly R[]) => Promise<T> | T;

/** Reads pages of lists. */
export interface Lists {
  /** Reads a page and fills it, in one snapshot: a new one, or the given one. */
  page<R extends ResourceRow, T>(
    collection: Collection<R>,
    query: ListQuery,
    fill: FillPage<R, T>,
    snapshot?: Session,
  ): Promise<FilledPage<R, T>>;
  /** Counts all rows of a source, and those that are not after a cursor. */
  place<R extends ResourceRow>(
    collection: Collection<R>,
    source: RangeSource,
    order: Order,
    end: Cursor,
  ): Promise<{ readonly count: number; readonly total: number }>;
  /** Counts the rows of a list by the values of a column. */
  values<R extends ResourceRow>(collection: Collection<R>, query: ValueQuery): Promise<ValueCounts>;
}

/** The ways to read from a database: single statements, and several in a new snapshot. */
interface Reads {
  readonly session: Session;
  read<T>(body: (session: Session) => Promise<T>): Promise<T>;
  /** The same, for data whose changes are all in the change log: a replica may answer. */
  readonly readLogged: Reads["read"];
}

/** Creates the reader of one database. */
export function newLists(
  { session: own, read, readLogged }: Reads,
  pages: PageCache,
  offsets: OffsetIndex,
  readValues: ReadValueCounts,
): Lists {
  /**
   * Returns a cached page without opening a snapshot, which takes round trips on PostgreSQL. Returns undefined if the page
   * is not cached, or if the database changed while the page was filled with further reads.
   */
  async function findPage<R extends ResourceRow, T>(
    collection: Collection<R>,
    query: ListQuery,
    fill: FillPage<R, T>,
  ): Promise<FilledPage<R, T> | undefined> {
    const { dataVersion } = own;
    if (!dataVersion) return undefined;
    // Read on first use: there is nothing to validate if the page is not cached.
    const version = once(dataVersion);
    let hasRead = false;
    const session: Session = {
      ...own,
      dataVersion: version,
      prepared(...statement) {
        hasRead = true;
        return own.prepared(...statement);
      },
    };
    const page = await pages.find(session, collection, query);
    if (!page) return undefined;
    const items = await fill(session, page.rows);
    return hasRead && (await dataVersion()) !== (await version()) ? undefined : { ...page, items };
  }

  return {
    async place(collection, source, order, end) {
      const range: Range = { source, filters: {}, order, after: undefined };
      const count = (session: Session) => readCounter(session, entryKeyOf(source), collection.kind);
      await offsets.prepare(collection, [range], await count(own));
      return await readLogged(async (session) => ({
        count: await offsets.countUntil(session, collection, range, end),
        total: await count(session),
      }));
    },

    values: (collection, query) => readLogged(async (session) => await readValues(session, collection, query)),

    async page(collection, query, fill, snapshot) {
      // Before the snapshot: building the offset index takes many short ones.
      await prepareSkip(offsets, collection, query);
      const readPage = async (session: Session) => {
        const page = await pages.read(session, collection, query);
        return { ...page, items: await fill(session, page.rows) };
      };
      if (snapshot) return await readPage(snapshot);
      const cached = own.seesLatest ? await findPage(collection, query, fill) : undefined;
      if (cached) return cached;
      return await (isLogged(collection, query) && !collection.showsUnlogged ? readLogged : read)(readPage);
    },
  };
}
