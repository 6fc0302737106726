// Figures about the event queues of all subscriptions, for findings and metrics.
import { limitOf } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import type { Scan } from "../list/scan.ts";
import { asc, count, gt, sql } from "../schema/drizzle.ts";

/** Finds the queues whose first delivery has failed. */
export const failingQueues: Scan = {
  // Each queue is that of a subscription, so there are at most as many.
  kind: "subscriptions",
  table: ({ eventQueues }) => eventQueues,
  uid: ({ eventQueues }) => eventQueues.subscriptionUid,
  condition: {
    name: "failing",
    build: ({ tables: { eventQueues } }) => gt(eventQueues.attempts, sql.raw("0")),
    values: {},
  },
};

/** Returns how many deliveries all subscriptions wait for; `limit` stands for that many or more. */
export async function countDeliveries(session: Session, limit: number): Promise<number> {
  const statement = session.prepared("event_deliveries.count_all", (db, { eventDeliveries }) => {
    const waiting = db.select({ sequence: eventDeliveries.sequence }).from(eventDeliveries).limit(limitOf("limit"));
    return db.select({ rows: count() }).from(waiting.as("waiting"));
  });
  return (await statement.execute({ limit }))[0]?.rows ?? 0;
}

/** Returns when the oldest undelivered event happened, in milliseconds since the epoch; undefined if all are delivered. */
export async function oldestEventTime(session: Session): Promise<number | undefined> {
  const statement = session.prepared("events.oldest", (db, { events }) =>
    db.select({ time: events.time }).from(events).orderBy(asc(events.sequence)).limit(limitOf(1)),
  );
  return (await statement.execute())[0]?.time;
}
