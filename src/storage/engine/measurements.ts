// The measurements of a database, for metrics.
import { DurationCounts } from "../../base/duration-counts.ts";

/** The durations of statements, from the request to the result. On PostgreSQL they include the wait for a connection. */
export interface StatementDurations {
  readonly read: DurationCounts;
  readonly write: DurationCounts;
}

/** The use of a pool of connections. */
export interface PoolUse {
  readonly used: number;
  readonly idle: number;
  readonly max: number;
  /** Requests that wait for a connection. */
  readonly pending: number;
}

/** Measurements since the database was opened. */
export interface DatabaseMeasurements {
  readonly statements: StatementDurations;
  /** Returns the present use of the pool; absent on SQLite, which has none. */
  readonly pool?: () => PoolUse;
}

/** Creates durations of no statements yet. */
export function newStatementDurations(): StatementDurations {
  return { read: new DurationCounts(), write: new DurationCounts() };
}

/** Whether a statement may change rows. */
export function isWriteStatement(sql: string): boolean {
  return !/^select\b/i.test(sql);
}
