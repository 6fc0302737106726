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
  /** How many turns have read so far. */
  ticks(): number;
  /**
   * A number for what reads find now, which is the same only as long as nobody has committed anything. To ask for it costs a
   * quarter of a snapshot, and none is begun.
   */
  dataVersion(): number;
}

/** Makes the one of a connection. What a turn reads is never older than what was acknowledged before the turn began. */
export function newSnapshot(reader: BetterSqlite.Database): Snapshot {
  const begin = reader.prepare("BEGIN");
  const commit = reader.prepare("COMMIT");
  const rollback = reader.prepare("ROLLBACK");
  // SQLite, "PRAGMA data_version": differs once another connection, of whichever process, has committed.
  const readVersion = reader.prepare("PRAGMA data_version").pluck();
  let isOpen = false;
  let isDue = false;
  let bodies = 0;
  let turns = 0;
  let isInTurn = false;
  let state = 0;
  let version: unknown;
  /** Whether `state` is that of the snapshot, or that which this turn has found where none is open. */
  let isKnown = false;

  /** Whoever reads next is told what fails here. */
  function versionNow(): unknown {
    try {
      return readVersion.get();
    } catch {
      return undefined;
    }
  }

  function enterTurn(): void {
    if (isInTurn) return;
    isInTurn = true;
    turns++;
    setImmediate(endTurn);
  }

  function open(): void {
    if (isOpen) return;
    begin.run();
    isOpen = true;
    isDue = false;
    // It begins with its first read: somebody may have committed since the state was asked for.
    isKnown = false;
    enterTurn();
  }

  function endTurn(): void {
    isInTurn = false;
    isDue = true;
    end();
  }

  function end(): void {
    if (bodies > 0) return;
    isKnown = false;
    if (!isOpen) return;
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
    ticks: () => turns,
    dataVersion() {
      if (isKnown) return state;
      const found = versionNow();
      if (found === undefined || found !== version) {
        version = found;
        state++;
      }
      isKnown = true;
      enterTurn();
      return state;
    },
  };
}
