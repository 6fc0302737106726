import type { Prepared } from "../session.ts";
import { translatePostgresError } from "./errors.ts";

/** Wraps a statement of node-postgres, and translates its errors. */
export function runAsync<T>(statement: Prepared<T>): Prepared<T> {
  return {
    isWrite: !/^select\b/i.test((statement as unknown as { getQuery(): { sql: string } }).getQuery().sql),
    async execute(values) {
      try {
        return await statement.execute(values);
      } catch (error) {
        throw translatePostgresError(error);
      }
    },
  };
}
