import { unavailable } from "../aip/errors.ts";
import type { Call } from "../pipeline/call.ts";
import { type ServiceContext, writeContext } from "../resource/service-context.ts";
import { StorageUnavailable } from "../storage/engine/errors.ts";
import type { ChangeEntry } from "../storage/engine/session.ts";

/**
 * Writes the entry of a call that only reads to the audit log. Call it before the response: throws UNAVAILABLE if the entry cannot be
 * written, so nothing leaves without one.
 */
export async function recordExport(
  { database, clock }: Pick<ServiceContext, "database" | "clock">,
  call: Call,
  entry: Omit<ChangeEntry, "before" | "by">,
): Promise<void> {
  try {
    await database.write(writeContext(call, clock), async (tx) => tx.logChange({ ...entry, before: null }));
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) throw error;
    throw unavailable("exports are recorded in the audit log, and the database cannot be written now", error);
  }
}
