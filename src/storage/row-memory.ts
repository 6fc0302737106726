// Rows that are remembered.

import type { Soon } from "../soon.ts";
import { type Collection, findRow, type ResourceRow } from "./collection.ts";
import { bytesOf, type ReadMemory } from "./read-memory.ts";
import type { Session } from "./session.ts";

/** Finds rows, or remembers them. */
export interface RowMemory {
  /** The row with this uid; undefined when there is none. Frozen where it is remembered: the next time it is the same one. */
  find<R extends ResourceRow>(collection: Collection<R>, uid: string): Soon<R | undefined>;
}

/** Makes one that keeps the rows of a session in a memory. */
export function newRowMemory(memory: ReadMemory, session: Session): RowMemory {
  return {
    find<R extends ResourceRow>(collection: Collection<R>, uid: string) {
      // Where the log has to be asked for each row, the row itself is read as fast.
      if (collection.isTouched || !session.snapshot) return findRow(session, collection, uid);
      return memory.recall<R | undefined>(session, {
        kind: collection.kind,
        name: `${collection.kind} ${uid}`,
        places: () => [uid],
        read: () => findRow(session, collection, uid),
        bytesOf: (row) => row && bytesOf([row]),
        freeze: (row) => Object.freeze(row),
      });
    },
  };
}
