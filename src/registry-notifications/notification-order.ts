// Handles notifications that arrive out of order, from several nodes of a registry or from retries.
import { hash } from "node:crypto";
import type { Session, Transaction } from "../storage/engine/session.ts";
import { findLatestNotification, recordNotificationTime } from "../storage/registry/notification-log.ts";
import type { FetchContent } from "./image.ts";
import type { RegistryEvent } from "./notification.ts";

/**
 * Returns the time of the latest applied event about the same tag or digest; undefined if there is none to compare
 * with.
 */
export async function lastNotificationTime(session: Session, event: RegistryEvent): Promise<number | undefined> {
  return event.time === undefined ? undefined : await findLatestNotification(session, notificationKeys(event));
}

/**
 * Reports whether an event is out of date: a later event about the same tag or digest was applied, and the registry no
 * longer has the state of this event. Clocks of registry nodes may differ, so times alone do not decide. Without access
 * to the registry, events are applied as they arrive.
 */
export async function isOutOfOrder(
  content: FetchContent | undefined,
  event: RegistryEvent,
  latest: number | undefined,
): Promise<boolean> {
  const { action, repository, tag, digest, time, hasCoarseTime } = event;
  if (!content || time === undefined || latest === undefined) return false;
  if (latest < time || (latest === time && !hasCoarseTime)) return false;
  const bytes = await content("manifests", repository, tag || digest);
  if (action === "delete") return bytes !== undefined;
  return bytes === undefined || `sha256:${hash("sha256", bytes)}` !== digest;
}

/**
 * Records the time of the event for later comparisons. A clock that is ahead counts as now at most.
 *
 * Returns whether an event that may be a later one was applied since `latest` was read, while the registry was being read. It waits
 * for concurrent writers of the same tag or digest.
 */
export async function recordTime(tx: Transaction, event: RegistryEvent, latest: number | undefined): Promise<boolean> {
  if (event.time === undefined) return false;
  const time = Math.min(event.time, tx.context.time);
  let isLatest = true;
  for (const thing of notificationKeys(event)) isLatest = (await recordNotificationTime(tx, thing, time)) && isLatest;
  const isNewTime = latest === undefined || latest < time;
  if (event.hasCoarseTime && isNewTime && !isLatest) return true;
  const now = await lastNotificationTime(tx, event);
  return now !== undefined && now > Math.max(event.time, latest ?? event.time);
}

/** Returns the keys under which the time of the event is stored. */
function notificationKeys({ repository, tag, digest }: RegistryEvent): string[] {
  const things = [tag === "" ? "" : `tag ${repository}:${tag}`, digest === "" ? "" : `digest ${repository}@${digest}`];
  return things.filter((thing) => thing !== "").map((thing) => hash("sha256", thing));
}
