// A primary with a streaming standby.
import { type DebianServer, startDebianPostgres } from "../../harness/debian-postgres.ts";

/** Starts both, with an empty database `gatehouse`. */
export async function startStreaming(
  opened: AsyncDisposableStack,
): Promise<[primary: DebianServer, standby: DebianServer]> {
  const primary = opened.use(await startDebianPostgres());
  await primary.query("CREATE DATABASE gatehouse");
  return [primary, opened.use(await startDebianPostgres({ primary }))];
}
