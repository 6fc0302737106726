// Stores what this process counts for statistics.
import { type DailyTally, storeTally } from "../services/statistics/daily-tally.ts";
import { statisticsLimits } from "../services/statistics/limits.ts";
import type { Database } from "../storage/database.ts";
import { everyAndAtEnd } from "./every.ts";
import type { ServerContext } from "./server-context.ts";

/** Stores the counts of a tally every few seconds. Disposing it stores those that remain. */
export function storeCounts(
  { clock, log }: Pick<ServerContext, "clock" | "log">,
  database: Pick<Database, "write">,
  tally: DailyTally,
): AsyncDisposable {
  const newWrite = () => ({ actor: "", method: "statistics", requestId: "", time: clock(), isBulk: true });
  const store = () => storeTally(tally, database, newWrite);
  const logFailure = (error: unknown) => log.warn({ err: error }, "storing counts for statistics failed");
  return everyAndAtEnd(statisticsLimits.storeMs, store, logFailure);
}
