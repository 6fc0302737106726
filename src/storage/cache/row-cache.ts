// Caches rows.

import { type Gatherer, type GathererLimits, newGatherer } from "../../base/gather.ts";
import { type MaybePromise, mapMaybe } from "../../base/maybe-promise.ts";
import type { Collection, ResourceRow } from "../collection/collection.ts";
import { findRow, findRows } from "../collection/rows.ts";
import type { Session } from "../engine/session.ts";
import { bytesOf, type CacheableRead, type ReadCache } from "./read-cache.ts";

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

/** Creates a row cache that keeps its entries in `cache`, if there is one, and reads with the session `own`. */
export function newRowCache(cache: ReadCache | undefined, own: Session): RowCache {
  const loader = own.seesLatest ? newRowLoader(own) : undefined;

  function findAll<R extends ResourceRow>(collection: Collection<R>, uids: readonly string[], session = own) {
    const reading = new RowRead(session, collection, uids, session === own ? loader : undefined);
    // Without a data version, checking the change log takes as long as reading the row.
    return !cache || collection.unloggedColumns || !session.dataVersion ? reading.read() : cache.get(session, reading);
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

/** How many uids one statement looks up, and how long it waits for the one before it. */
const limits: GathererLimits = { maxKeys: 200, patienceMs: 500 };

/** Reads rows by uid. */
interface RowLoader {
  /** Returns the rows with these uids, in any order and from one snapshot. The rows may be shared with other callers. */
  load<R extends ResourceRow>(collection: Collection<R>, uids: readonly string[]): Promise<readonly R[]>;
}

/** Creates a loader. Each statement of the session must see all earlier commits. */
function newRowLoader(session: Session): RowLoader {
  const gatherers = new Map<string, Gatherer<string, ReadonlyMap<string, ResourceRow>>>();

  function gathererOf<R extends ResourceRow>(collection: Collection<R>) {
    let gatherer = gatherers.get(collection.kind);
    if (!gatherer) {
      const read = async (uids: ReadonlySet<string>) =>
        new Map((await findRows(session, collection, [...uids])).map((row) => [row.uid, row]));
      gatherer = newGatherer(read, limits);
      gatherers.set(collection.kind, gatherer);
    }
    return gatherer;
  }

  return {
    async load<R extends ResourceRow>(collection: Collection<R>, uids: readonly string[]) {
      const found = (await gathererOf(collection)(uids)) as ReadonlyMap<string, R>;
      return uids.flatMap((uid) => found.get(uid) ?? []);
    },
  };
}
