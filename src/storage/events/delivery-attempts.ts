// The latest attempts to deliver to each subscription (docs/design/audit-and-events.md).

import { limitOf, rowPlaceholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, desc, eq, lte, sql } from "../schema/drizzle.ts";
import { lockSubscriptions } from "./subscribers.ts";

/** How many attempts of each subscription are stored. */
export const maxAttempts = 20;

/** An attempt to deliver an event. */
export interface DeliveryAttempt {
  readonly subscriptionUid: string;
  /** The start of the attempt, in milliseconds since the epoch. */
  readonly startTime: number;
  /** In milliseconds. */
  readonly duration: number;
  readonly eventType: string;
  readonly eventId: string;
  /** The status of the response; 0 if there was none. */
  readonly httpStatus: number;
  /** The beginning of the response; empty if subscribers must not see it. */
  readonly responseLine: string;
  /** The reason why the attempt failed; empty if the event was delivered. */
  readonly failure: string;
  /** Whether the event was dropped after this attempt. */
  readonly isDropped: boolean;
}

const columns = [
  ...(["subscriptionUid", "startTime", "duration", "eventType", "eventId"] as const),
  ...(["httpStatus", "responseLine", "failure", "isDropped"] as const),
];

/** Stores an attempt, unless its subscription was deleted meanwhile, and deletes the oldest beyond `maxAttempts`. */
export async function addAttempt(tx: Transaction, attempt: DeliveryAttempt): Promise<void> {
  const insert = tx.prepared("delivery_attempts.insert", (db, { deliveryAttempts }) =>
    db.insert(deliveryAttempts).values(rowPlaceholders(columns)).onConflictDoNothing(),
  );
  const trim = tx.prepared("delivery_attempts.trim", (db, { deliveryAttempts }) => {
    const { subscriptionUid, startTime } = deliveryAttempts;
    const ofSubscription = eq(subscriptionUid, textPlaceholder("subscriptionUid"));
    const newestExcess = db
      .select({ startTime })
      .from(deliveryAttempts)
      .where(ofSubscription)
      .orderBy(desc(startTime))
      .limit(limitOf(1))
      .offset(limitOf(maxAttempts));
    return db.delete(deliveryAttempts).where(and(ofSubscription, lte(startTime, sql`(${newestExcess})`)));
  });
  const { subscriptionUid } = attempt;
  if (!(await lockSubscriptions(tx, [subscriptionUid])).has(subscriptionUid)) return;
  await insert.execute({ ...attempt });
  await trim.execute({ subscriptionUid });
}

/** Returns the stored attempts of subscriptions, those of each newest first. */
export async function findAttempts(session: Session, subscriptionUids: readonly string[]): Promise<DeliveryAttempt[]> {
  const statement = session.prepared("delivery_attempts.of_subscriptions", (db, { deliveryAttempts }) =>
    db
      .select()
      .from(deliveryAttempts)
      .where(session.isAmong(deliveryAttempts.subscriptionUid, textPlaceholder("subscriptions")))
      .orderBy(asc(deliveryAttempts.subscriptionUid), desc(deliveryAttempts.startTime)),
  );
  return await statement.execute({ subscriptions: JSON.stringify(subscriptionUids) });
}
