// One snapshot for all reads of an event-loop tick: beginning and ending one takes as long as a point read.
import type BetterSqlite from "better-sqlite3";

/** The snapshot that the reads of one connection share. */
export interface Snapshot {
  /** Begins a snapshot unless one is open. It ends with this event-loop tick, or with the last body that shares it. */
  open(): void;
  /** Runs several reads on one snapshot. The body must await nothing but the connection. */
  share<T>(body: () => Promise<T>): Promise<T>;
  /**
   * Ends the snapshot early, unless a read transaction is using it. Called before each commit: later reads must see the
   * commit, and SQLite restarts the WAL only without readers. Never throws.
   */
  end(): void;
  /** How many event-loop ticks had reads. */
  ticks(): number;
  /**
   * Returns a number that stays the same until someone commits. It takes a quarter of the time of a snapshot, and
   * begins none.
   */
  dataVersion(): number;
}

/**
 * Creates the snapshot of a connection. Reads of a tick are never older than the commits acknowledged before the tick.
 */
export function newSnapshot(reader: BetterSqlite.Database): Snapshot {
  const begin = reader.prepare("BEGIN");
  const commit = reader.prepare("COMMIT");
  const rollback = reader.prepare("ROLLBACK");
  // SQLite, "PRAGMA data_version": changes once another connection, of any process, has committed.
  const readVersion = reader.prepare("PRAGMA data_version").pluck();
  let isOpen = false;
  let isDue = false;
  let bodies = 0;
  let turns = 0;
  let isInTurn = false;
  let state = 0;
  let version: unknown;
  /** Whether `state` is current for the open snapshot, or for this tick if none is open. */
  let isKnown = false;

  /** Errors are ignored here; the next read reports them. */
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
    // SQLite begins it with the first read: someone may have committed since `dataVersion` was called.
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
    // The connection may be closed by now.
    if (!reader.open) return;
    try {
      if (reader.inTransaction) commit.run();
    } catch {
      // After a failed read, such as of a damaged page, SQLite repeats the error here. The reader already has it.
      leave();
    }
  }

  function leave(): void {
    try {
      if (reader.inTransaction) rollback.run();
    } catch {
      // The next snapshot then fails to begin, and reports the error.
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
