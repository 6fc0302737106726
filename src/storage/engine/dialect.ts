import type { DatabaseMeasurements } from "./measurements.ts";
import type { MigrationListener } from "./migrations.ts";
import type { ChangeEntry, RowLock, Session, Transaction, WriteContext } from "./session.ts";
import type { WriteTurns } from "./write-turns.ts";

/** A session inside a write transaction, with what only one of the databases needs. */
export interface DialectTransaction extends Session {
  /** The row lock to use; absent on SQLite, where a write transaction locks the whole database. */
  readonly rowLock?: RowLock;
  /** The lock that keeps a row from being deleted; absent on SQLite. */
  readonly keepLock?: RowLock;
  /** Writes of the commit that are not logged yet; the last one logs them all. Absent if each write logs itself. */
  readonly pendingLog?: LoggedWrite[];
  /** See `Transaction.lockTables`. Does nothing on SQLite. */
  readonly lockTables: Transaction["lockTables"];
  /** See `Transaction.shareStatements`. */
  readonly shareStatements?: Transaction["shareStatements"];
  /** See `Transaction.runPart`. */
  readonly runPart?: Transaction["runPart"];
  /** Waits until this transaction may append to the change log, because sequence numbers must follow commit order. */
  lockChanges(): Promise<void>;
  /**
   * Waits until no other large write holds or wants the lock of the change log, for which other writes would wait as long as all of them
   * together take. Does nothing on SQLite.
   */
  lockLargeLog(): Promise<void>;
}

/** One of the two databases, as the rest of the program sees it. */
export interface Dialect {
  readonly name: "sqlite" | "postgres";
  /** Runs single statements, outside of any transaction. */
  readonly session: Session;
  /** The same, but a statement without a response delays no other (PostgreSQL; absent if none can). */
  readonly isolatedSession?: Session;
  /** Runs several reads in one consistent snapshot. */
  read<T>(body: (session: Session) => Promise<T>): Promise<T>;
  /**
   * The same, for reads of data whose changes are all in the change log. A replica may answer, and the body may run
   * twice. Absent without replicas.
   */
  readonly readLogged?: Dialect["read"];
  readonly replicas?: ReplicaStatus | undefined;
  /** See `Database.rehearse`. */
  rehearse<T>(body: (tx: DialectTransaction) => Promise<T>): Promise<T>;
  readonly measurements: DatabaseMeasurements;
  /**
   * Runs the body in a write transaction, and resolves once the commit is durable. The body must only use the database,
   * and may run again after a conflict. Bulk writes yield to other writes.
   */
  write<T>(body: (tx: DialectTransaction) => Promise<T>, kind: WriteKind): Promise<T>;
  /** The turns of the processes that write to one file (SQLite). */
  readonly writeTurns?: Pick<WriteTurns, "lend" | "take"> | undefined;
  /** Rejects with StorageReadOnly if the database is read-only, and with StorageUnavailable if it does not respond. */
  check(): Promise<void>;
  /** Calls the listener with the name of the new host after each failover (PostgreSQL). */
  readonly onHostChanged?: ((listener: (host: string) => void) => void) | undefined;
  close(): Promise<void>;
}

/** The counts of reads that replicas answered or passed on to the primary (PostgreSQL). */
export interface ReplicaStatus {
  /** The number of reads that a replica answered. */
  readonly reads: number;
  /** The number of reads that the primary answered, by the reason. */
  readonly fallbacks: Readonly<Record<string, number>>;
  /** Calls the listener with the host when it cannot be used, and without a failure when it is used again. */
  onChange(
    listener: (host: string, failure: { readonly reason: string; readonly message: string } | undefined) => void,
  ): void;
}

/** The ways in which a write may be combined with others; see `WriteContext`. */
export type WriteKind = Pick<
  WriteContext,
  "isBulk" | "isIndependent" | "isAlone" | "isLarge" | "hasParts" | "lifetime"
>;

/** A write's contribution to the change log. */
export interface LoggedWrite {
  readonly context: WriteContext;
  readonly changes: readonly ChangeEntry[];
  readonly accessChanged: boolean;
}

/** The callbacks from a dialect to its database. */
export interface DatabaseHooks {
  readonly onMigrated: MigrationListener;
  /**
   * Called when committed changes may have vanished, as after a failover: everything that was read before may be wrong
   * (PostgreSQL).
   */
  readonly onNewHistory: () => void;
  /** Logs the writes of a commit, and changes the export states of groups, at its end (PostgreSQL). */
  readonly log: (
    tx: DialectTransaction,
    writes: readonly LoggedWrite[],
    exported: ReadonlySet<string>,
  ) => Promise<void>;
}

/** Limits of batches, queues, connections and waiting times. */
export interface DatabaseLimits {
  /** How many writes share one commit. */
  readonly maxBatch: number;
  /** How long writes may join a commit, in milliseconds (SQLite). Other processes wait for its lock meanwhile. */
  readonly maxBatchMs: number;
  /** How many bulk writes share one commit (SQLite). */
  readonly maxBulkBatch: number;
  /** How long bulk writes may join a commit while no other write waits, in milliseconds (SQLite). */
  readonly maxBulkBatchMs: number;
  /** How many writes may wait: in the write queue of SQLite, or for a connection to PostgreSQL. */
  readonly maxWaiting: number;
  /** How long to wait for a lock, in milliseconds. */
  readonly lockTimeoutMs: number;
  /** How many connections the pool has (PostgreSQL). */
  readonly poolSize: number;
  /** How long connecting may take, in milliseconds (PostgreSQL). */
  readonly connectTimeoutMs: number;
  /**
   * Whether a transaction pooler shares sessions among programs: neither settings nor prepared statements outlive a
   * transaction; false if absent (PostgreSQL).
   */
  readonly sharesSessions?: boolean;
  /** How long one statement may run, in milliseconds (PostgreSQL). 0 means no limit, for its response neither. */
  readonly statementTimeoutMs: number;
  /**
   * How long a transaction may be idle, in milliseconds (PostgreSQL). A frozen client would otherwise keep its locks. 0
   * means no limit.
   */
  readonly idleInTransactionMs: number;
  /** How long a health check waits for a response, in milliseconds (PostgreSQL). */
  readonly checkTimeoutMs: number;
  /** How long connections may take to close before they are destroyed, in milliseconds (PostgreSQL). */
  readonly closeTimeoutMs: number;
}

/** The limits of a server. */
export const defaultDatabaseLimits: DatabaseLimits = {
  maxBatch: 128,
  maxBatchMs: 100,
  maxBulkBatch: 4_000,
  maxBulkBatchMs: 2_000,
  maxWaiting: 10_000,
  lockTimeoutMs: 5_000,
  poolSize: 16,
  connectTimeoutMs: 3_000,
  statementTimeoutMs: 10_000,
  idleInTransactionMs: 10_000,
  checkTimeoutMs: 2_000,
  closeTimeoutMs: 5_000,
};

/** The limits of a command that differ. A check reads the whole database and may wait for the reader of its output. */
export const commandDatabaseLimits: Partial<DatabaseLimits> = { statementTimeoutMs: 0, idleInTransactionMs: 0 };
