import { createHash } from "node:crypto";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Tables } from "./tables.ts";

/** The part of a Drizzle database that both dialects share. */
export type Queries = Pick<NodePgDatabase, "select" | "insert" | "update" | "delete">;

/** A statement that is parsed once and run many times. */
export interface Prepared<T> {
  execute(values?: Record<string, unknown>): PromiseLike<T>;
}

/** Something of Drizzle's that can be prepared under a name. */
export interface Preparable<T> {
  prepare(name: string): Prepared<T>;
}

/** One connection, or a pool of them, with the statements prepared on it. */
export interface Session {
  readonly tables: Tables;
  /**
   * The statement of this key, built at its first use. A key always stands for the same text; whatever varies is a
   * placeholder. The number of keys is bounded by the program, never by its input.
   */
  prepared<T>(key: string, build: (db: Queries, tables: Tables) => Preparable<T>): Prepared<T>;
}

/** Who changes something, for the change log. */
export interface WriteContext {
  /** The uid of the caller; empty for the installation itself. */
  readonly actor: string;
  readonly method: string;
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** A write transaction. */
export interface Transaction extends Session {
  readonly context: WriteContext;
  /** Makes every node evaluate grants anew once this transaction has committed. */
  changeAccess(): Promise<void>;
  /** Orders appends to the change log by commit. */
  lockChanges(): Promise<void>;
}

/** Makes the session of one Drizzle database. */
export function newSession(db: Queries, tables: Tables): Session {
  const statements = new Map<string, Prepared<unknown>>();
  return {
    tables,
    prepared<T>(key: string, build: (db: Queries, tables: Tables) => Preparable<T>): Prepared<T> {
      let statement = statements.get(key);
      if (!statement) {
        statement = build(db, tables).prepare(statementName(key));
        statements.set(key, statement);
      }
      return statement as Prepared<T>;
    },
  };
}

/** PostgreSQL keeps prepared statements by name per connection: a name must follow from the key alone. */
function statementName(key: string): string {
  return `gatehouse_${createHash("sha256").update(key).digest("hex").slice(0, 24)}`;
}
