import { isWriteStatement, type StatementDurations } from "../measurements.ts";
import type { Prepared } from "../session.ts";
import { translatePostgresError } from "./errors.ts";

/** Wraps a statement of node-postgres: measures it, and translates its errors. */
export function runAsync<T>(statement: Prepared<T>, durations: StatementDurations): Prepared<T> {
  const isWrite = isWriteStatement((statement as unknown as { getQuery(): { sql: string } }).getQuery().sql);
  const measured = isWrite ? durations.write : durations.read;
  return {
    isWrite,
    async execute(values) {
      const startedAt = performance.now();
      try {
        return await statement.execute(values);
      } catch (error) {
        throw translatePostgresError(error);
      } finally {
        measured.recordSince(startedAt);
      }
    },
  };
}
