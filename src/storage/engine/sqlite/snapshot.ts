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

/** Creates the snapshot of a connection. Reads of a tick are never older than the commits acknowledged before the tick. */
export function newSnapshot(reader: BetterSqlite.Database): Snapshot {
  const shared = new SharedSnapshot(reader);
  return {
    open: () => shared.open(),
    share: (body) => shared.share(body),
    end: () => shared.end(),
    ticks: () => shared.ticks,
    dataVersion: () => shared.dataVersion(),
  };
}

class SharedSnapshot {
  readonly #reader: BetterSqlite.Database;
  readonly #statements: ReturnType<typeof prepareAll>;
  #isOpen = false;
  /** Whether the tick has ended: the snapshot then ends with the last body. */
  #isDue = false;
  #bodies = 0;
  #ticks = 0;
  #isInTick = false;
  #dataVersion = 0;
  /** The version of SQLite that `#dataVersion` stands for. */
  #sqliteVersion: unknown;
  /** Whether `#dataVersion` is current for the open snapshot, or for this tick if none is open. */
  #isVersionKnown = false;

  constructor(reader: BetterSqlite.Database) {
    this.#reader = reader;
    this.#statements = prepareAll(reader);
  }

  get ticks(): number {
    return this.#ticks;
  }

  open(): void {
    if (this.#isOpen) return;
    this.#statements.begin.run();
    this.#isOpen = true;
    this.#isDue = false;
    // SQLite begins it with the first read: someone may have committed since `dataVersion` was called.
    this.#isVersionKnown = false;
    this.#enterTick();
  }

  async share<T>(body: () => Promise<T>): Promise<T> {
    this.open();
    this.#bodies++;
    try {
      return await body();
    } finally {
      this.#bodies--;
      if (this.#isDue) this.end();
    }
  }

  end(): void {
    if (this.#bodies > 0) return;
    this.#isVersionKnown = false;
    if (!this.#isOpen) return;
    this.#isOpen = false;
    // The connection may be closed by now.
    if (!this.#reader.open) return;
    try {
      if (this.#reader.inTransaction) this.#statements.commit.run();
    } catch {
      // After a failed read, such as of a damaged page, SQLite repeats the error here. The reader already has it.
      this.#rollBack();
    }
  }

  dataVersion(): number {
    if (this.#isVersionKnown) return this.#dataVersion;
    const found = this.#readVersion();
    if (found === undefined || found !== this.#sqliteVersion) {
      this.#sqliteVersion = found;
      this.#dataVersion++;
    }
    this.#isVersionKnown = true;
    this.#enterTick();
    return this.#dataVersion;
  }

  #enterTick(): void {
    if (this.#isInTick) return;
    this.#isInTick = true;
    this.#ticks++;
    setImmediate(() => this.#endTick());
  }

  #endTick(): void {
    this.#isInTick = false;
    this.#isDue = true;
    this.end();
  }

  /** Errors are ignored here; the next read reports them. */
  #readVersion(): unknown {
    try {
      return this.#statements.version.get();
    } catch {
      return undefined;
    }
  }

  #rollBack(): void {
    try {
      if (this.#reader.inTransaction) this.#statements.rollback.run();
    } catch {
      // The next snapshot then fails to begin, and reports the error.
    }
  }
}

function prepareAll(reader: BetterSqlite.Database) {
  return {
    begin: reader.prepare("BEGIN"),
    commit: reader.prepare("COMMIT"),
    rollback: reader.prepare("ROLLBACK"),
    // SQLite, "PRAGMA data_version": changes once another connection, of any process, has committed.
    version: reader.prepare("PRAGMA data_version").pluck(),
  };
}
