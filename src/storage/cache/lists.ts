// Reads pages of lists: the offset index, a snapshot and the page cache, in the right order.
import type { Collection, ResourceRow } from "../collection/collection.ts";
import type { Session } from "../engine/session.ts";
import { type ListQuery, prepareSkip } from "../list/list-rows.ts";
import type { OffsetIndex } from "../list/offset-index.ts";
import type { ListedPage, PageCache } from "./page-cache.ts";

/** A page, and what was made of its rows in the same snapshot. */
export interface FilledPage<R, T> extends ListedPage<R> {
  readonly items: T;
}

/** Makes something of the rows of a page, with further reads if needed. */
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
}

/** Creates the reader of one database. `read` runs its body in a new snapshot. */
export function newLists(
  read: <T>(body: (session: Session) => Promise<T>) => Promise<T>,
  pages: PageCache,
  offsets: OffsetIndex,
): Lists {
  return {
    async page(collection, query, fill, snapshot) {
      // Before the snapshot: building the offset index takes many short ones.
      await prepareSkip(offsets, collection, query);
      const readPage = async (session: Session) => {
        const page = await pages.read(session, collection, query);
        return { ...page, items: await fill(session, page.rows) };
      };
      return snapshot ? await readPage(snapshot) : await read(readPage);
    },
  };
}
