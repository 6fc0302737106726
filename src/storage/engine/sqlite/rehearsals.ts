// Runs writes without the write lock, on a connection of its own, and undoes them.
import type BetterSqlite from "better-sqlite3";
import { newCounterChanges } from "../counters.ts";
import type { DatabaseLimits, Dialect, DialectTransaction } from "../dialect.ts";
import { newSemaphore, type Semaphore } from "../semaphore.ts";
import type { Queries, Session } from "../session.ts";
import { connect, driver } from "./connection.ts";
import { withPrepare } from "./custom-prepare.ts";
import { translateSqliteError } from "./errors.ts";
import { createOverlay, withoutConflict } from "./overlay.ts";

/** Rehearsals of writes. */
export interface Rehearsals extends Pick<Dialect, "rehearse"> {
  close(): void;
}

/** Creates the rehearsals on a file. The connection is opened on first use, and one rehearsal runs at a time. */
export function newRehearsals(file: string, limits: DatabaseLimits, sessionOf: SessionOf): Rehearsals {
  const connection = new OverlaidConnection(() => connect(file, limits, true), sessionOf, limits);
  return {
    rehearse: (body) => connection.run((session) => body(rehearsalOf(session))),
    close: () => connection.close(),
  };
}

/** Nothing commits, so nothing is written at the end of a commit. */
function rehearsalOf(session: Session): DialectTransaction {
  return {
    ...session,
    pendingCounters: newCounterChanges(),
    pendingExports: new Set(),
    lockTables: async () => {},
    lockChanges: async () => {},
    lockLargeLog: async () => {},
  };
}

type SessionOf = (queries: Queries) => Session;

type Opened = { readonly connection: BetterSqlite.Database; readonly session: Session; readonly schema: unknown };

class OverlaidConnection {
  readonly #connect: () => BetterSqlite.Database;
  readonly #sessionOf: SessionOf;
  readonly #turns: Semaphore;
  #opened: Opened | undefined;

  constructor(connectTo: () => BetterSqlite.Database, sessionOf: SessionOf, { maxWaiting }: DatabaseLimits) {
    this.#connect = connectTo;
    this.#sessionOf = sessionOf;
    this.#turns = newSemaphore({ permits: 1, maxWaiting, maxWaitMs });
  }

  run<T>(body: (session: Session) => Promise<T>): Promise<T> {
    return this.#turns.run(async () => {
      try {
        const { connection, session } = await this.#open();
        connection.exec("BEGIN");
        try {
          return await body(session);
        } finally {
          if (connection.inTransaction) connection.exec("ROLLBACK");
        }
      } catch (error) {
        throw translateSqliteError(error);
      }
    });
  }

  close(): void {
    this.#opened?.connection.close();
    this.#opened = undefined;
  }

  /** Opens the connection again after a migration by another process. */
  async #open(): Promise<Opened> {
    if (this.#opened && schemaOf(this.#opened.connection) !== this.#opened.schema) this.close();
    if (this.#opened) return this.#opened;
    const connection = this.#connect();
    try {
      const schema = schemaOf(connection);
      await createOverlay(connection);
      const prepared = withPrepare(connection, (sql) => connection.prepare(withoutConflict(sql)));
      const queries = driver().drizzle(prepared, { casing: "snake_case" }) as unknown as Queries;
      this.#opened = { connection, schema, session: this.#sessionOf(queries) };
      return this.#opened;
    } catch (error) {
      connection.close();
      throw error;
    }
  }
}

/** How long a rehearsal may wait for those before it, in milliseconds. The deadlines of calls are shorter. */
const maxWaitMs = 60_000;

function schemaOf(connection: BetterSqlite.Database): unknown {
  return connection.pragma("main.schema_version", { simple: true });
}
