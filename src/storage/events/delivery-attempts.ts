// The latest attempts to deliver to each subscription (docs/design/audit-and-events.md).

import { limitOf, rowPlaceholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, desc, eq, getTableColumns, lte, sql } from "../schema/drizzle.ts";
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
  /** Null for attempts of releases that gave them none. */
  readonly uid: string | null;
  /** The kind of failure; empty or null if the event was delivered or the reason is not shown. */
  readonly reason: string | null;
  /** The sequence number of the event; null for a test event. */
  readonly sequence: number | null;
}

/** An attempt to store. */
export interface NewAttempt extends DeliveryAttempt {
  readonly uid: string;
  /** The request and the response, encrypted; null if there is no key to encrypt them with. */
  readonly payload: string | null;
}

/** Returns the column of the payload of an attempt, for its encryption. */
export function payloadColumn(uid: string) {
  return { kind: "delivery_attempts", uid, column: "payload" } as const;
}

const columns = [
  ...(["subscriptionUid", "startTime", "duration", "eventType", "eventId"] as const),
  ...(["httpStatus", "responseLine", "failure", "isDropped", "uid", "reason", "sequence", "payload"] as const),
];

/** Stores an attempt, unless its subscription was deleted meanwhile, and deletes the oldest beyond `maxAttempts`. */
export async function addAttempt(tx: Transaction, attempt: NewAttempt): Promise<void> {
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
  const statement = session.prepared("delivery_attempts.of_subscriptions", (db, { deliveryAttempts }) => {
    const { payload: _, ...shown } = getTableColumns(deliveryAttempts);
    return db
      .select(shown)
      .from(deliveryAttempts)
      .where(session.isAmong(deliveryAttempts.subscriptionUid, textPlaceholder("subscriptions")))
      .orderBy(asc(deliveryAttempts.subscriptionUid), desc(deliveryAttempts.startTime));
  });
  return await statement.execute({ subscriptions: JSON.stringify(subscriptionUids) });
}

/** An attempt with its encrypted payload. */
export interface AttemptWithPayload extends DeliveryAttempt {
  readonly payload: string | null;
}

/** Returns an attempt by its uid; undefined if it is not stored. */
export async function findAttempt(session: Session, uid: string): Promise<AttemptWithPayload | undefined> {
  const statement = session.prepared("delivery_attempts.get", (db, { deliveryAttempts }) =>
    db
      .select()
      .from(deliveryAttempts)
      .where(eq(deliveryAttempts.uid, sql.placeholder("uid"))),
  );
  return (await statement.execute({ uid }))[0];
}

/** Returns the stored attempts for events of a subscription, newest first. */
export async function findAttemptsOfEvents(
  session: Session,
  subscriptionUid: string,
  eventIds: readonly string[],
): Promise<AttemptWithPayload[]> {
  const statement = session.prepared("delivery_attempts.of_events", (db, { deliveryAttempts }) =>
    db
      .select()
      .from(deliveryAttempts)
      .where(
        and(
          eq(deliveryAttempts.subscriptionUid, textPlaceholder("subscriptionUid")),
          session.isAmong(deliveryAttempts.eventId, textPlaceholder("eventIds")),
        ),
      )
      .orderBy(desc(deliveryAttempts.startTime)),
  );
  return await statement.execute({ subscriptionUid, eventIds: JSON.stringify(eventIds) });
}
