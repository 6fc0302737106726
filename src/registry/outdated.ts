// Notifications that come out of order: those of several nodes of a registry, or of one that repeats what was not taken.
import { hash } from "node:crypto";
import type { Database } from "../storage/database.ts";
import { findLatestTold, recordTold } from "../storage/registry-events.ts";
import type { Transaction } from "../storage/session.ts";
import type { FetchContent } from "./image.ts";
import type { RegistryEvent } from "./notification.ts";

/**
 * Whether the registry has gone on since the event: something later about the same tag or digest was dealt with before, and the
 * registry says otherwise by now. The clocks of its nodes may differ, so that times alone do not decide; who cannot ask takes
 * events as they come.
 */
export async function isOutdated(
  database: Pick<Database, "session">,
  content: FetchContent | undefined,
  event: RegistryEvent,
): Promise<boolean> {
  const { action, repository, tag, digest, time } = event;
  if (!content || time === undefined) return false;
  const latest = await findLatestTold(database.session, thingsOf(event));
  if (latest === undefined || latest <= time) return false;
  const bytes = await content("manifests", repository, tag || digest);
  if (action === "delete") return bytes !== undefined;
  return bytes === undefined || `sha256:${hash("sha256", bytes)}` !== digest;
}

/** Remembers when the event was, for those that come behind it; a clock that is ahead counts no further than to now. */
export async function rememberTime(tx: Transaction, event: RegistryEvent): Promise<void> {
  if (event.time === undefined) return;
  for (const thing of thingsOf(event)) await recordTold(tx, thing, Math.min(event.time, tx.context.time));
}

/** What the event is about, as it is remembered. */
function thingsOf({ repository, tag, digest }: RegistryEvent): string[] {
  const things = [tag === "" ? "" : `tag ${repository}:${tag}`, digest === "" ? "" : `digest ${repository}@${digest}`];
  return things.filter((thing) => thing !== "").map((thing) => hash("sha256", thing));
}
