import { createHash } from "node:crypto";
import type { SQL, SQLWrapper } from "drizzle-orm";
import type { PgDatabase, PgQueryResultHKT, PgTable } from "drizzle-orm/pg-core";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { Tables } from "../schema/tables.ts";
import { translateError } from "./errors.ts";

/** The part of a Drizzle database that both dialects share. */
export type Queries = Pick<PgDatabase<PgQueryResultHKT>, "select" | "selectDistinct" | "insert" | "update" | "delete">;

/** A statement that is parsed once and run many times. */
export interface Prepared<T> {
  execute(values?: Record<string, unknown>): MaybePromise<T>;
}

/** Something of Drizzle's that can be prepared under a name. */
export interface Preparable<T> {
  prepare(name: string): Prepared<T>;
}

/** How PostgreSQL keeps a row from being changed by others, while they may still refer to it. */
export type RowLock = "no key update";

/** What is different in the statements of the two databases. */
export interface SessionDialect {
  readonly tables: Tables;
  /** A table of one column, `value`: the texts of a JSON list. */
  readonly textsOf: (list: SQLWrapper) => SQL;
  /** A table of two columns, `key` and `value`: the members of a JSON object, which are texts. */
  readonly membersOf: (object: SQLWrapper) => SQL;
  /** Whether a value is among the texts of a JSON list, which are few, so that each is looked for in an index. */
  readonly isAmong: (value: SQLWrapper, list: SQLWrapper) => SQL;
}

/** What a transaction, or several that commit together, do to the counters. */
export interface CounterChanges {
  /** Adds to the counters of one resource under these keys, which start at zero. */
  add(keys: readonly string[], kind: string, difference: number): void;
  /** Forgets the counters below a uid that is gone, with what was added before. */
  drop(uid: string): void;
  /** Takes back what was added to one counter. */
  forget(key: string, kind: string): void;
  /** Forgets all of it. */
  clear(): void;
  /** Has others come after all of theirs. */
  addTo(others: CounterChanges): void;
  /** The counters under a key, by resource, that are stored as these. */
  apply(key: string, stored: ReadonlyMap<string, number>): ReadonlyMap<string, number>;
  /** Writes all of it. */
  write(session: Session): Promise<void>;
}

/** One connection, or a pool of them, with the statements prepared on it. */
export interface Session extends SessionDialect {
  /** A number for what reads find: while it is the same, they find the same. Absent where that is not known. */
  readonly dataVersion?: () => number;
  /** What transactions before this one, that commit together with it, do to the counters; absent where none does. */
  readonly pendingCounters?: CounterChanges;
  /** The groups whose export states such transactions change; absent where none does. */
  readonly pendingExports?: Set<string>;
  /** What a row that is read by its uid is locked with until the end of the transaction; nothing when absent. */
  readonly readLock?: RowLock;
  /**
   * The statement of this key, built at its first use. A key always stands for the same text; whatever varies is a
   * placeholder. The number of keys is bounded by the program, never by its input. It rejects with what errors.ts has.
   */
  prepared<T>(key: string, build: (db: Queries, tables: Tables) => Preparable<T>): Prepared<T>;
}

/** Who changes something, for the change log. */
export interface WriteContext {
  /** The uid of the caller; empty for the installation itself. */
  readonly actor: string;
  /** The claims of the outside token that the caller exchanged for the one they call with; absent where there is none. */
  readonly actorClaims?: Readonly<Record<string, string>>;
  /** The mappings of outside groups by which the caller holds roles in their session; none when absent. */
  readonly actorMappings?: readonly string[];
  readonly method: string;
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Whether the write is one of many that nobody waits for one by one, such as those of an import; not when absent. */
  readonly isBulk?: boolean;
}

/** One change of one resource. */
export interface ChangeEntry {
  readonly kind: string;
  readonly uid: string;
  /** The group it is filed under: for groups themselves; for anything deleted and for the rest the one above. */
  readonly groupUid: string;
  /** The row before; null for an insert. */
  readonly before: unknown;
  /** The row after; null for a delete. */
  readonly after: unknown;
  /** Who caused it and how, where that is not what the transaction's context says. */
  readonly by?: Pick<WriteContext, "actor" | "actorClaims" | "method" | "requestId">;
}

/** A write transaction. */
export interface Transaction extends Session {
  readonly context: WriteContext;
  /** What can lock a row; absent where a write transaction has the whole database to itself. */
  readonly rowLock?: RowLock;
  /** Keeps all others from writing to these tables until the transaction ends; to be called before anything is read. */
  lockTables(tables: readonly PgTable[]): Promise<void>;
  /** Makes every node evaluate grants anew once this transaction has committed. */
  changeAccess(): void;
  /** What becomes of the counters when the body is through. */
  readonly counterChanges: CounterChanges;
  /** Changes the state of what a group, and all groups above it, export. */
  changeExports(groupUid: string): void;
  /** Has the change appended to the change log when the body is through. */
  logChange(entry: ChangeEntry): void;
}

/** Runs a statement the way its driver does, with errors as errors.ts has them. */
export type Runner = <T>(statement: Prepared<T>) => Prepared<T>;

/** Makes the session of one Drizzle database. */
export function newSession(db: Queries, dialect: SessionDialect, runner: Runner = runAsync): Session {
  const { tables } = dialect;
  const statements = new Map<string, Prepared<unknown>>();
  return {
    ...dialect,
    prepared<T>(key: string, build: (db: Queries, tables: Tables) => Preparable<T>): Prepared<T> {
      let statement = statements.get(key);
      if (!statement) {
        statement = runner(build(db, tables).prepare(statementName(key)));
        statements.set(key, statement);
      }
      return statement as Prepared<T>;
    },
  };
}

/** For drivers that answer later. */
export function runAsync<T>(statement: Prepared<T>): Prepared<T> {
  return {
    async execute(values) {
      try {
        return await statement.execute(values);
      } catch (error) {
        throw translateError(error);
      }
    },
  };
}

/** PostgreSQL keeps prepared statements by name per connection: a name must follow from the key alone. */
function statementName(key: string): string {
  return `gatehouse_${createHash("sha256").update(key).digest("hex").slice(0, 24)}`;
}
