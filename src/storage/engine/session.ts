import { createHash } from "node:crypto";
import type { SQL, SQLWrapper } from "drizzle-orm";
import type { PgDatabase, PgQueryResultHKT, PgTable } from "drizzle-orm/pg-core";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import { traced, tracing } from "../../base/tracing.ts";
import type { Tables } from "../schema/tables.ts";

/** The part of a Drizzle database that both dialects share. */
export type Queries = Pick<PgDatabase<PgQueryResultHKT>, "select" | "selectDistinct" | "insert" | "update" | "delete">;

/** A statement that is parsed once and run many times. */
export interface Prepared<T> {
  /** Whether it may change rows (PostgreSQL). */
  readonly isWrite?: boolean;
  execute(values?: Record<string, unknown>): MaybePromise<T>;
}

/** A Drizzle query that can be prepared under a name. */
export interface Preparable<T> {
  prepare(name: string): Prepared<T>;
}

/**
 * A lock of PostgreSQL on a row until the end of the transaction. "no key update" prevents changes to the row, but not
 * references to it. "key share" only keeps it from being deleted, and many transactions can hold it.
 */
export type RowLock = "no key update" | "key share";

/** The differences between the two databases that other code has to know. */
export interface SessionDialect {
  /** The name for traces. Nothing depends on it outside of the engine. */
  readonly dialect: "sqlite" | "postgres";
  /** The name for people. */
  readonly product: "SQLite" | "PostgreSQL";
  /**
   * Whether the database is another process, which several servers can share. A statement then costs more than its rows, statements
   * that are sent at once travel together, and calls of one transaction can share them.
   */
  readonly isRemote: boolean;
  /** Whether the database itself keeps the index of searched texts in step with them. */
  readonly keepsTextIndex: boolean;
  readonly tables: Tables;
  /** The version of the database, and its size in bytes. */
  readonly facts: { readonly version: SQL<string>; readonly sizeBytes: SQL<number> };
  /**
   * The functions that lock the hash of a text until the end of the transaction, for one transaction or for several, or that try to and
   * return whether they did; undefined if there is one writer at a time.
   */
  readonly textLocks: { readonly exclusive: SQL; readonly shared: SQL; readonly tryExclusive: SQL } | undefined;
  /** A table with one column, `value`: the texts of a JSON array. */
  readonly textsOf: (list: SQLWrapper) => SQL;
  /** A table with two columns, `key` and `value`: the members of a JSON object of texts. */
  readonly membersOf: (object: SQLWrapper) => SQL;
  /** A condition: a value equals one of the texts of a short JSON array. Each is looked up in an index. */
  readonly isAmong: (value: SQLWrapper, list: SQLWrapper) => SQL;
  /** The same for a number and a short JSON array of numbers. */
  readonly isAmongNumbers: (value: SQLWrapper, list: SQLWrapper) => SQL;
}

/** The clock of the terms of role bindings. */
export interface TermTime {
  /** Returns the time by which the terms of role bindings begin and end, in milliseconds since the epoch. It never goes back. */
  termTime(): number;
}

/** The counter changes of one transaction, or of several that commit together. */
export interface CounterChanges {
  /** Adds to the counters of one resource under these keys. Missing counters count as zero. */
  add(keys: readonly string[], kind: string, difference: number): void;
  /** Deletes the counters of a deleted uid, and discards what was added to them. */
  drop(uid: string): void;
  /** Discards what was added to one counter. */
  forget(key: string, kind: string): void;
  /** Discards all changes. */
  clear(): void;
  /** Applies these changes to other ones. */
  addTo(others: CounterChanges): void;
  /** Returns the counters of a key by resource, given the stored ones. */
  apply(key: string, stored: ReadonlyMap<string, number>): ReadonlyMap<string, number>;
  /** Writes all changes. */
  write(session: Session): Promise<void>;
}

/** A connection or a pool, with its prepared statements. */
export interface Session extends SessionDialect, TermTime {
  /** Returns a number that stays the same while reads return the same. Absent where that is unknown. */
  readonly dataVersion?: () => MaybePromise<number>;
  /** Whether every statement sees all transactions that committed before it was sent; false if absent: in a snapshot. */
  readonly seesLatest?: boolean;
  /** The counter changes of earlier writes in the same commit; absent if a write has a commit of its own. */
  readonly pendingCounters?: CounterChanges;
  /** The groups whose export states change in the same commit; absent if a write has a commit of its own. */
  readonly pendingExports?: Set<string>;
  /**
   * Runs a function once for the calls with the same name that concurrent writes make in the same tick, with all their
   * items. Absent if no write of the same commit runs at the same time.
   */
  readonly gather?: Gather;
  /** The lock for rows that are read by uid, held until the end of the transaction; none if absent. */
  readonly readLock?: RowLock;
  /**
   * Returns the statement for this key, and builds it on first use. A key always has the same SQL text, and values are
   * placeholders, so the number of keys is limited by the program, never by its input. Rejects with the errors of
   * errors.ts.
   */
  prepared<T>(key: string, build: (db: Queries, tables: Tables) => Preparable<T>): Prepared<T>;
}

/** The lifetime of a write. */
export interface WriteLifetime {
  /** The reason why the write must not commit any more, such as a passed deadline; undefined while it may. */
  readonly ended: Error | undefined;
  /** Called when a write has committed. */
  committed(): void;
}

/** Throws why a write must not commit any more. */
export function requireLifetime(lifetime: WriteLifetime | undefined): void {
  const reason = lifetime?.ended;
  if (reason) throw reason;
}

/** The author and origin of a write, for the change log. */
export interface WriteContext {
  /** The uid of the caller; empty for the installation itself. */
  readonly actor: string;
  /** The claims of the subject token that the caller exchanged; absent if there was none. */
  readonly actorClaims?: Readonly<Record<string, string>> | undefined;
  /** The uids of the external group mappings that give the caller roles in this session; none if absent. */
  readonly actorMappings?: readonly string[] | undefined;
  readonly method: string;
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Whether the write is part of bulk work, such as an import; false if absent. */
  readonly isBulk?: boolean | undefined;
  /**
   * Whether the outcome of the write does not depend on the absence of a row. Then other writes may run at the same
   * time in the same transaction (PostgreSQL). False if absent.
   */
  readonly isIndependent?: boolean;
  /** Whether the write has a transaction of its own: it changes much and may fail late. False if absent. */
  readonly isAlone?: boolean | undefined;
  /**
   * Whether others notice how long the write takes. It has a transaction of its own; on SQLite, such writes run one at a time, with a
   * pause after each. False if absent.
   */
  readonly isLarge?: boolean | undefined;
  /**
   * Whether the write has parts that may fail and be undone while the others go on. On PostgreSQL it has a transaction of its own. False
   * if absent.
   */
  readonly hasParts?: boolean | undefined;
  /** The lifetime of the write; unlimited if absent. */
  readonly lifetime?: WriteLifetime | undefined;
  /** The condition of the write; none if absent. */
  readonly precondition?: Precondition | undefined;
  /** Called with the entity tag of a resource that is created or updated, for the response. */
  readonly onTag?: ((tag: string) => void) | undefined;
}

/** A condition on the state of one resource, which is checked before the transaction changes it (RFC 9110 §13.1.1). */
export interface Precondition {
  /** The uid of the resource. */
  readonly uid: string;
  /** Throws unless the resource, whose tag is given, has the expected state. */
  check(tag: string): void;
}

/** One change of one resource. */
export interface ChangeEntry {
  readonly kind: string;
  readonly uid: string;
  /** The group that the change belongs to: a live group itself, or the parent of anything else. */
  readonly groupUid: string;
  /** The row before; null for an insert. */
  readonly before: unknown;
  /** The row after; null for a delete. */
  readonly after: unknown;
  /** The author and origin, if they differ from the context of the transaction. */
  readonly by?: Pick<WriteContext, "actor" | "actorClaims" | "method" | "requestId">;
}

/** A write transaction. */
export interface Transaction extends Session {
  readonly context: WriteContext;
  /** The row lock to use; absent on SQLite, where a write transaction locks the whole database. */
  readonly rowLock?: RowLock;
  /** The lock that keeps a row from being deleted; absent on SQLite. */
  readonly keepLock?: RowLock;
  /** Blocks other writes to these tables until the transaction ends. Call it before anything is read. */
  lockTables(tables: readonly PgTable[]): Promise<void>;
  /** Makes every node reload grants once this transaction has committed. */
  changeAccess(): void;
  /** The counter changes, written after the body. */
  readonly counterChanges: CounterChanges;
  /** Changes the export state of a group and all its ancestors. */
  changeExports(groupUid: string): void;
  /** Runs a part of a write that has parts, and undoes what it wrote if it throws. Parts must not run at the same time. */
  readonly runPart?: (<T>(body: () => Promise<T>) => Promise<T>) | undefined;
  /** Appends the change to the change log after the body. */
  logChange(entry: ChangeEntry): void;
  /** Begins to share statements among writes of this transaction that run at the same time. Absent where that saves nothing. */
  readonly shareStatements?: (() => SharedStatements) | undefined;
}

/** Shares statements among concurrent writes of one commit, whose transaction they use. */
export interface Gather {
  read<K, V>(name: string, items: readonly K[], run: (session: Session, items: readonly K[]) => Promise<V>): Promise<V>;
  /**
   * Resolves once the statement is sent. If it fails, nothing is committed, and each write runs again without sharing
   * statements: its own statement then rejects.
   */
  write<K>(
    name: string,
    items: readonly K[],
    run: (session: Session, items: readonly K[]) => Promise<void>,
  ): Promise<void>;
}

/** The statements that concurrent writes share. */
export interface SharedStatements {
  readonly gather: Gather;
  /** Those that change rows, and whose results no write waited for. */
  readonly sent: readonly Promise<void>[];
  /** Sends no more. */
  end(): void;
}

/** Wraps a statement of a driver, and translates its errors. */
export type Runner = <T>(statement: Prepared<T>) => Prepared<T>;

/** Creates the session of a Drizzle database. */
export function newSession(db: Queries, dialect: SessionDialect & TermTime, runner: Runner): Session {
  const { tables } = dialect;
  const statements = new Map<string, Prepared<unknown>>();
  return {
    ...dialect,
    prepared<T>(key: string, build: (db: Queries, tables: Tables) => Preparable<T>): Prepared<T> {
      let statement = statements.get(key);
      if (!statement) {
        statement = tracedStatement(runner(build(db, tables).prepare(statementName(key))), key, dialect);
        statements.set(key, statement);
      }
      return statement as Prepared<T>;
    },
  };
}

/** Without tracing the statement is the same: a read of a cached page must not pay for traces that nobody records. */
function tracedStatement<T>(statement: Prepared<T>, key: string, { dialect }: SessionDialect): Prepared<T> {
  if (!tracing()) return statement;
  const system = dialect === "postgres" ? "postgresql" : dialect;
  const attributes = { "db.system.name": system, "db.query.summary": key.slice(0, 120) };
  const step = { name: `${system} statement`, isClient: true, attributes };
  return { ...statement, execute: (values) => traced(step, () => statement.execute(values)) };
}

/** PostgreSQL identifies prepared statements by name per connection, so the name must depend on the key alone. */
function statementName(key: string): string {
  return `gatehouse_${createHash("sha256").update(key).digest("hex").slice(0, 24)}`;
}
