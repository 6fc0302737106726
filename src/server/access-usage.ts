// Stores which access was used.
import type { AccessUsage } from "../authz/usage.ts";
import { inPortions } from "../base/portions.ts";
import type { Database } from "../storage/database.ts";
import { accessRecording, storeUses } from "../storage/iam/access-usage.ts";
import { limits } from "./limits.ts";
import { storeRecordedUses } from "./recorded-uses.ts";
import type { ServerContext } from "./server-context.ts";

/** How many uses one transaction stores. */
const batchSize = 200;

/**
 * Stores the uses of this process: those of capabilities that were not used before within a second, others every few minutes. Disposing
 * it stores the rest. Without a memory of uses, stores that none are recorded.
 */
export function storeUsage(
  context: Pick<ServerContext, "clock" | "log">,
  database: Pick<Database, "write" | "session">,
  usage: AccessUsage | undefined,
): Promise<AsyncDisposable> {
  return storeRecordedUses(context, database, {
    method: "access_usage",
    recording: accessRecording,
    intervalMs: limits.usageFreshMs,
    failure: "storing the uses of access failed",
    store:
      usage &&
      (async (isAll, newWrite) => {
        usage.advance(newWrite().time);
        await inPortions(
          usage.take(isAll),
          batchSize,
          (uses) => database.write(newWrite(), (tx) => storeUses(tx, uses)),
          (rest) => usage.putBack(rest),
        );
      }),
  });
}
