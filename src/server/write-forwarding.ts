// With several processes on one SQLite file, one of them executes the writes of all: docs/decisions/0066.
import { type Database, sqliteFile } from "../storage/database.ts";
import { type Forwarder, newForwarder } from "../transport/forwarding/forwarder.ts";
import { openWriterPort, type WriterPort } from "../transport/forwarding/writer-port.ts";
import type { ServerApi } from "./api.ts";
import type { ServerContext } from "./server-context.ts";

/** Opens what forwards writes to another process; undefined if this process executes all calls. */
export function openForwarder(
  { config, group }: ServerContext,
  { dialect, accessEpoch, writeTurns }: Database,
): Forwarder | undefined {
  if (!group || group.isWriter || dialect !== "sqlite") return undefined;
  const { key } = group;
  // As after a write of this process: its next call sees the change of permissions.
  const path = socketOf(config.databaseUrl);
  const forwarder = newForwarder({ path, key, onExecuted: () => accessEpoch.invalidate() });
  // Token exchanges and the like are not forwarded: this process writes them itself, in its turn.
  if (writeTurns) writeTurns.take = () => forwarder.takeTurn();
  return forwarder;
}

/** Opens the port for the writes of other processes; undefined if there are none. */
export async function openWriter(
  { config, group, log }: ServerContext,
  { dialect, writeTurns }: Database,
  { methods }: ServerApi,
): Promise<WriterPort | undefined> {
  if (!group?.isWriter || dialect !== "sqlite" || !writeTurns) return undefined;
  const path = socketOf(config.databaseUrl);
  try {
    return await openWriterPort({ path, key: group.key, methods, lendTurn: () => writeTurns.lend() });
  } catch (error) {
    log.warn(
      { err: error, path },
      "the socket for writes cannot be opened; each worker writes itself, which is slower",
    );
    return undefined;
  }
}

/** Returns a path next to the files of the database: a user who can use that directory can write them, too. */
function socketOf(databaseUrl: string): string {
  return `${sqliteFile(databaseUrl)}-writer`;
}
