// Rows that are remembered.

import type { Soon } from "../soon.ts";
import { type Collection, findRow, type ResourceRow } from "./collection.ts";
import { bytesOf, type Reading, type ReadMemory } from "./read-memory.ts";
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
      if (collection.isTouched || !session.state) return findRow(session, collection, uid);
      return memory.recall(session, new RowReading(session, collection, uid));
    },
  };
}

// A class: closures in an object would outlive the request (docs/decisions/0019-what-a-request-leaves.md).
class RowReading<R extends ResourceRow> implements Reading<R | undefined> {
  readonly kind: string;
  readonly name: string;
  readonly #session: Session;
  readonly #collection: Collection<R>;
  readonly #uid: string;

  constructor(session: Session, collection: Collection<R>, uid: string) {
    this.kind = collection.kind;
    this.name = `${collection.kind} ${uid}`;
    this.#session = session;
    this.#collection = collection;
    this.#uid = uid;
  }

  places(): readonly string[] {
    return [this.#uid];
  }

  read(): Soon<R | undefined> {
    return findRow(this.#session, this.#collection, this.#uid);
  }

  bytesOf(row: R | undefined): number | undefined {
    return row && bytesOf([row]);
  }

  freeze(row: R | undefined): void {
    Object.freeze(row);
  }
}
