// Notifications that come out of order: those of several nodes of a registry, or of one that repeats what was not taken.
import { hash } from "node:crypto";
import type { Session, Transaction } from "../storage/engine/session.ts";
import { findLatestTold, recordTold } from "../storage/registry/notification-log.ts";
import type { FetchContent } from "./image.ts";
import type { RegistryEvent } from "./notification.ts";

/** The time of the latest event that was dealt with about the same tag or digest; undefined when there is none to compare with. */
export async function latestTold(session: Session, event: RegistryEvent): Promise<number | undefined> {
  return event.time === undefined ? undefined : await findLatestTold(session, thingsOf(event));
}

/**
 * Whether the registry has gone on since the event: something later about the same tag or digest was dealt with before, and the
 * registry says otherwise by now. The clocks of its nodes may differ, so that times alone do not decide; who cannot ask takes
 * events as they come.
 */
export async function isOutdated(
  content: FetchContent | undefined,
  event: RegistryEvent,
  latest: number | undefined,
): Promise<boolean> {
  const { action, repository, tag, digest, time } = event;
  if (!content || time === undefined || latest === undefined || latest <= time) return false;
  const bytes = await content("manifests", repository, tag || digest);
  if (action === "delete") return bytes !== undefined;
  return bytes === undefined || `sha256:${hash("sha256", bytes)}` !== digest;
}

/** Remembers when the event was, for those that come behind it; a clock that is ahead counts no further than to now. */
export async function rememberTime(tx: Transaction, event: RegistryEvent): Promise<void> {
  if (event.time === undefined) return;
  for (const thing of thingsOf(event)) await recordTold(tx, thing, Math.min(event.time, tx.context.time));
}

/**
 * Whether something later was dealt with while the registry was asked about the event. To be asked behind `rememberTime`, which
 * waits for whoever is writing about the same thing.
 */
export async function isOvertaken(tx: Transaction, event: RegistryEvent, latest: number | undefined): Promise<boolean> {
  const [now, { time }] = [await latestTold(tx, event), event];
  return now !== undefined && time !== undefined && now > Math.max(time, latest ?? time);
}

/** What the event is about, as it is remembered. */
function thingsOf({ repository, tag, digest }: RegistryEvent): string[] {
  const things = [tag === "" ? "" : `tag ${repository}:${tag}`, digest === "" ? "" : `digest ${repository}@${digest}`];
  return things.filter((thing) => thing !== "").map((thing) => hash("sha256", thing));
}
