// Caches rows.

import { type MaybePromise, mapMaybe } from "../../base/maybe-promise.ts";
import type { Collection, ResourceRow } from "../collection/collection.ts";
import { findRow, findRows } from "../collection/rows.ts";
import type { Session } from "../engine/session.ts";
import { bytesOf, type CacheableRead, type ReadCache } from "./read-cache.ts";

/** Finds rows, in the cache or in the database. Cached rows are frozen: the next time they are the same. */
export interface RowCache {
  /** The row with this uid; undefined when there is none. */
  find<R extends ResourceRow>(collection: Collection<R>, uid: string): MaybePromise<R | undefined>;
  /** The rows with these few uids, in any order and from one snapshot: that of the session, if one is given. */
  findAll<R extends ResourceRow>(
    collection: Collection<R>,
    uids: readonly string[],
    session?: Session,
  ): MaybePromise<readonly R[]>;
}

/** Makes one that keeps the rows of a session in a memory. */
export function newRowCache(memory: ReadCache, own: Session): RowCache {
  function findAll<R extends ResourceRow>(collection: Collection<R>, uids: readonly string[], session = own) {
    const reading = new RowRead(session, collection, uids);
    // Where the log has to be asked for each row, the row itself is read as fast.
    return collection.hasUnloggedColumns || !session.dataVersion ? reading.read() : memory.get(session, reading);
  }

  return {
    find<R extends ResourceRow>(collection: Collection<R>, uid: string) {
      return mapMaybe(findAll(collection, [uid]), ([row]) => row);
    },
    findAll,
  };
}

// A class: closures in an object would outlive the request (docs/decisions/0019).
class RowRead<R extends ResourceRow> implements CacheableRead<readonly R[]> {
  readonly kind: string;
  readonly #session: Session;
  readonly #collection: Collection<R>;
  readonly #uids: readonly string[];

  constructor(session: Session, collection: Collection<R>, uids: readonly string[]) {
    this.kind = collection.kind;
    this.#session = session;
    this.#collection = collection;
    this.#uids = uids;
  }

  get key(): string {
    return `${this.kind} ${this.#uids.join(" ")}`;
  }

  dependencies(): readonly string[] {
    return this.#uids;
  }

  read(): MaybePromise<readonly R[]> {
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
