// Reads the rows that concurrent requests ask for with one statement: on PostgreSQL, statements cost more than rows.
import { type Gatherer, type GathererLimits, newGatherer } from "../../base/gather.ts";
import type { Collection, ResourceRow } from "../collection/collection.ts";
import { findRows } from "../collection/rows.ts";
import type { Session } from "../engine/session.ts";

/** How many uids one statement looks up, and how long it waits for the one before it. */
const limits: GathererLimits = { maxKeys: 200, patienceMs: 500 };

/** Reads rows by uid. */
export interface RowLoader {
  /** Returns the rows with these uids, in any order and from one snapshot. The rows may be shared with other callers. */
  load<R extends ResourceRow>(collection: Collection<R>, uids: readonly string[]): Promise<readonly R[]>;
}

/** Creates a loader. Each statement of the session must see all earlier commits. */
export function newRowLoader(session: Session): RowLoader {
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
