// The write transactions of PostgreSQL.
import type pg from "pg";
import { getTableName } from "../../schema/drizzle.ts";
import { newCounterChanges } from "../counters.ts";
import type { DialectTransaction } from "../dialect.ts";
import { partRunner } from "../savepoint.ts";
import type { Session } from "../session.ts";
import type { InstallationSchema } from "./installation-schema.ts";
import { newSharedStatements } from "./write-member.ts";

/** The numbers of advisory locks. */
export const changesLock = 7_301_002;
const largeLogLock = 7_301_004;

/** The keys of the advisory locks of one installation. */
export interface LogLocks {
  /** Held while changes are appended to the log, until the commit. */
  readonly changes: string;
  /** Held by the one large write that may wait for the other lock. */
  readonly largeLog: string;
}

/** Returns the keys of the locks in a schema. */
export function logLocksOf({ lockKey }: Pick<InstallationSchema, "lockKey">): LogLocks {
  return { changes: lockKey(changesLock), largeLog: lockKey(largeLogLock) };
}

/** Creates the transaction that the writes of a batch share. */
export function batchTransactionOf(client: pg.PoolClient, session: Session, locks: LogLocks): DialectTransaction {
  return {
    ...transactionOf(client, session, locks, false),
    pendingCounters: newCounterChanges(),
    pendingExports: new Set<string>(),
    pendingLog: [],
  };
}

/** Creates a transaction of one write, which may share its statements among parts that run at the same time. */
export function ownTransactionOf(
  client: pg.PoolClient,
  session: Session,
  locks: LogLocks,
  isRetry: boolean,
): DialectTransaction {
  const tx = {
    ...transactionOf(client, session, locks, isRetry),
    runPart: partRunner((statement) => client.query(statement)),
  };
  return { ...tx, shareStatements: () => newSharedStatements({ tx, begun: Promise.resolve() }) };
}

/**
 * Creates the transaction of a connection. If it runs again, it locks the rows that it reads: they cannot change a second
 * time.
 */
export function transactionOf(
  client: pg.PoolClient,
  session: Session,
  locks: LogLocks,
  isRetry: boolean,
): DialectTransaction {
  return {
    ...session,
    rowLock: "no key update",
    keepLock: "key share",
    ...(isRetry ? { readLock: "no key update" } : {}),
    async lockTables(tables) {
      const names = tables.map((table) => client.escapeIdentifier(getTableName(table)));
      // The weakest mode that excludes other writers, including this one. Reads continue.
      await client.query(`LOCK TABLE ${names.join(", ")} IN SHARE ROW EXCLUSIVE MODE`);
    },
    // Sequence numbers are assigned before the commit: without a lock, a reader could miss the slower of two writers.
    async lockChanges() {
      await client.query({ name: "gatehouse_lock_changes", text: `SELECT pg_advisory_xact_lock(${locks.changes})` });
    },
    async lockLargeLog() {
      await client.query({ name: "gatehouse_lock_large_log", text: `SELECT pg_advisory_xact_lock(${locks.largeLog})` });
    },
  };
}
