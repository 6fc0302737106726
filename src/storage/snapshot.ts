// One snapshot for all reads of a turn of the event loop: to begin and end one costs as much as a point read.
import type BetterSqlite from "better-sqlite3";

/** The snapshot that the reads of one connection share. */
export interface Snapshot {
  /** Begins one unless it is open. It ends with this turn of the event loop, or with the last body that shares it. */
  open(): void;
  /** Runs several reads on one snapshot; the body waits for nothing but the connection. */
  share<T>(body: () => Promise<T>): Promise<T>;
  /**
   * Ends it before the turn does, unless a body is in the middle of its reads: for a commit, which reads that come after
   * it have to see, and which begins the log anew only while nobody reads from it. It never throws: nobody who could be
   * told of a failure is there.
   */
  end(): void;
  /** How many were begun so far. */
  begun(): number;
  /** The number of the one that is open, begun where none is. */
  current(): number;
}

/** Makes the one of a connection. What a turn reads is never older than what was acknowledged before the turn began. */
export function newSnapshot(reader: BetterSqlite.Database): Snapshot {
  const begin = reader.prepare("BEGIN");
  const commit = reader.prepare("COMMIT");
  const rollback = reader.prepare("ROLLBACK");
  let isOpen = false;
  let isDue = false;
  let bodies = 0;
  let begun = 0;

  function open(): void {
    if (isOpen) return;
    begin.run();
    begun++;
    isOpen = true;
    isDue = false;
    setImmediate(endTurn);
  }

  function endTurn(): void {
    isDue = true;
    end();
  }

  function end(): void {
    if (!isOpen || bodies > 0) return;
    isOpen = false;
    // The connection may have been closed meanwhile.
    if (!reader.open) return;
    try {
      if (reader.inTransaction) commit.run();
    } catch {
      // After a read that failed, as on a damaged page, SQLite reports that failure once more. Whoever read has been told.
      leave();
    }
  }

  function leave(): void {
    try {
      if (reader.inTransaction) rollback.run();
    } catch {
      // The next snapshot cannot begin then, and says why.
    }
  }

  return {
    open,
    async share(body) {
      open();
      bodies++;
      try {
        return await body();
      } finally {
        bodies--;
        if (isDue) end();
      }
    },
    end,
    begun: () => begun,
    current() {
      open();
      return begun;
    },
  };
}
