import type { RowLock, Session, Transaction } from "./session.ts";

/** A session inside a write transaction, with what only one of the databases needs. */
export interface DialectTransaction extends Session {
  /** What can lock a row; absent where a write transaction has the whole database to itself. */
  readonly rowLock?: RowLock;
  /** As a transaction has it; nothing is to be done where a write transaction has the whole database to itself. */
  readonly lockTables: Transaction["lockTables"];
  /** Orders appends to the change log by commit. */
  lockChanges(): Promise<void>;
}

/** What the two databases have in common for the rest of the program. */
export interface Dialect {
  readonly name: "sqlite" | "postgres";
  /** For single statements. */
  readonly session: Session;
  /** Runs several reads on one consistent snapshot. */
  read<T>(body: (session: Session) => Promise<T>): Promise<T>;
  /**
   * Runs the body in a write transaction and answers once it is durable. A body touches the database and nothing else,
   * and may be run again when the database asks for it. Writes of bulk work give way to others (SQLite).
   */
  write<T>(body: (tx: DialectTransaction) => Promise<T>, isBulk: boolean): Promise<T>;
  /** Rejects with StorageReadOnly when the database can only be read, and otherwise when it does not answer. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Whether a database that is not there is made. */
export type OpenMode = "create" | "existing";

/** What bounds the work of a database, and for how long it may be waited for. */
export interface DatabaseLimits {
  /** Writes that share one commit (SQLite). */
  readonly maxBatch: number;
  /** How long writes go on joining a commit, in milliseconds (SQLite): other processes wait for its lock meanwhile. */
  readonly maxBatchMs: number;
  /** Writes of bulk work that share one commit (SQLite). */
  readonly maxBulkBatch: number;
  /** How long writes of bulk work go on joining a commit while no other write waits, in milliseconds (SQLite). */
  readonly maxBulkBatchMs: number;
  /** Writes that may wait: for their turn on SQLite, for a connection on PostgreSQL. */
  readonly maxWaiting: number;
  /** How long a lock may be waited for, in milliseconds. */
  readonly lockTimeoutMs: number;
  /** Connections (PostgreSQL). */
  readonly poolSize: number;
  /** How long one statement may run, in milliseconds (PostgreSQL); 0 for no limit, neither for its answer. */
  readonly statementTimeoutMs: number;
  /**
   * How long a transaction may wait for its client, in milliseconds (PostgreSQL): one that was frozen would keep what it has
   * locked. 0 for no limit.
   */
  readonly idleInTransactionMs: number;
  /** How long an answer to a probe is waited for, in milliseconds (PostgreSQL). */
  readonly checkTimeoutMs: number;
  /** How long connections may take to end before they are cut, in milliseconds (PostgreSQL). */
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
  statementTimeoutMs: 10_000,
  idleInTransactionMs: 10_000,
  checkTimeoutMs: 2_000,
  closeTimeoutMs: 5_000,
};

/** A check reads everything there is, and what it prints may have to wait for its reader: nobody waits for a command. */
export const commandDatabaseLimits: DatabaseLimits = {
  ...defaultDatabaseLimits,
  statementTimeoutMs: 0,
  idleInTransactionMs: 0,
};
