// Caches rows.

import { type MaybePromise, mapMaybe } from "../../base/maybe-promise.ts";
import type { Collection, ResourceRow } from "../collection/collection.ts";
import { findRow, findRows } from "../collection/rows.ts";
import type { Session } from "../engine/session.ts";
import { bytesOf, type CacheableRead, type ReadCache } from "./read-cache.ts";
import { newRowLoader, type RowLoader } from "./row-loader.ts";

/** Reads rows from the cache or the database. Cached rows are frozen: the next read returns the same objects. */
export interface RowCache {
  /** Returns the row with this uid, or undefined. */
  find<R extends ResourceRow>(collection: Collection<R>, uid: string): MaybePromise<R | undefined>;
  /**
   * Returns the rows with these uids, in any order and from one snapshot: that of the session, if one is given. Meant
   * for few uids.
   */
  findAll<R extends ResourceRow>(
    collection: Collection<R>,
    uids: readonly string[],
    session?: Session,
  ): MaybePromise<readonly R[]>;
}

/** Creates a row cache that keeps its entries in `cache`, and reads with the session `own`. */
export function newRowCache(cache: ReadCache, own: Session): RowCache {
  const loader = own.seesLatest ? newRowLoader(own) : undefined;

  function findAll<R extends ResourceRow>(collection: Collection<R>, uids: readonly string[], session = own) {
    const reading = new RowRead(session, collection, uids, session === own ? loader : undefined);
    // Without a data version, checking the change log takes as long as reading the row.
    return collection.hasUnloggedColumns || !session.dataVersion ? reading.read() : cache.get(session, reading);
  }

  return {
    find<R extends ResourceRow>(collection: Collection<R>, uid: string) {
      return mapMaybe(findAll(collection, [uid]), ([row]) => row);
    },
    findAll,
  };
}

// A class, because closures would outlive the request (docs/decisions/0019).
class RowRead<R extends ResourceRow> implements CacheableRead<readonly R[]> {
  readonly kind: string;
  readonly #session: Session;
  readonly #collection: Collection<R>;
  readonly #uids: readonly string[];
  readonly #loader: RowLoader | undefined;

  constructor(session: Session, collection: Collection<R>, uids: readonly string[], loader: RowLoader | undefined) {
    this.kind = collection.kind;
    this.#session = session;
    this.#collection = collection;
    this.#uids = uids;
    this.#loader = loader;
  }

  get key(): string {
    return `${this.kind} ${this.#uids.join(" ")}`;
  }

  get isShared(): boolean {
    return this.#loader !== undefined;
  }

  dependencies(): readonly string[] {
    return this.#uids;
  }

  read(): MaybePromise<readonly R[]> {
    if (this.#loader) return this.#loader.load(this.#collection, this.#uids);
    const [uid, ...others] = this.#uids;
    if (uid === undefined || others.length > 0) return findRows(this.#session, this.#collection, this.#uids);
    return mapMaybe(findRow(this.#session, this.#collection, uid), (row) => (row ? [row] : []));
  }

  bytesOf(rows: readonly R[]): number | undefined {
    return rows.length === 0 ? undefined : bytesOf(rows);
  }

  freeze(rows: readonly R[]): void {
    for (const row of rows) Object.freeze(row);
  }
}
