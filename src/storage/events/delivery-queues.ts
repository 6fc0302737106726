// Delivery queues: the undelivered events of each subscription, in the order of the change log.

import { limitOf, numberPlaceholder, rowPlaceholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, between, count, eq, lte, not, notExists, sql } from "../schema/drizzle.ts";
import { organizationOf } from "../schema/organization.ts";

/** An event as it is sent. */
export interface StoredEvent {
  /** The sequence number of the change, or of the first of several changes in one event. */
  readonly sequence: number;
  /** When it happened, in milliseconds since the epoch. */
  readonly time: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly data: string;
}

/** An event in the queue of a subscription. */
export interface Delivery {
  readonly subscriptionUid: string;
  readonly sequence: number;
}

/** The state of the first delivery of a queue. */
export interface QueueState {
  /** The number of failed attempts. */
  readonly attempts: number;
  /** The reason of the last failure; empty if there was none. */
  readonly lastFailure: string;
  /** The duration of the last attempt in milliseconds, regardless of its result; 0 before the first. */
  readonly lastDuration: number;
  /** The earliest time of the next attempt, in milliseconds since the epoch. */
  readonly nextTime: number;
}

/** The time of the next attempt of a queue that has stopped: its sink is gone, and nothing is sent until a user retries. */
export const stoppedTime = Date.UTC(9999, 11, 31);

const noFailures = { attempts: 0, lastFailure: "" } as const;

/** The next delivery of a subscription, with its sink. */
export interface NextDelivery extends Delivery, StoredEvent {
  /** The group of the subscription. */
  readonly parent: string;
  readonly sink: string;
  /** The number of failed attempts. */
  readonly attempts: number;
  /** Whether the subscription is paused. Null means that it is not. */
  readonly isPaused: boolean | null;
}

/** Stores an event, and appends it to the queues of subscriptions, which the transaction has locked. */
export async function enqueueEvent(
  tx: Transaction,
  event: StoredEvent,
  subscriptionUids: readonly string[],
): Promise<void> {
  const insert = tx.prepared("events.insert", (db, { events }) =>
    db.insert(events).values(rowPlaceholders(["sequence", "time", "headers", "data"])),
  );
  const add = tx.prepared("event_deliveries.add", (db, { eventDeliveries }) =>
    db
      .insert(eventDeliveries)
      .select(sql`select value, ${numberPlaceholder("sequence")} from ${tx.textsOf(textPlaceholder("subscriptions"))}`),
  );
  await insert.execute({ ...event });
  await add.execute({ subscriptions: JSON.stringify(subscriptionUids), sequence: event.sequence });
  await openQueues(tx, subscriptionUids);
}

/** Opens the queues of subscriptions, which the transaction has locked. Leaves open ones as they are. */
export async function openQueues(tx: Transaction, subscriptionUids: readonly string[]): Promise<void> {
  const open = tx.prepared("event_queues.open", (db, { eventQueues }) =>
    db
      .insert(eventQueues)
      // SQLite needs a WHERE here, or it parses ON CONFLICT as the ON of a join.
      .select(
        sql`select value, 0, '', 0, ${numberPlaceholder("now")} from ${tx.textsOf(textPlaceholder("subscriptions"))} where true`,
      )
      .onConflictDoUpdate({ target: eventQueues.subscriptionUid, set: { attempts: sql`${eventQueues.attempts}` } }),
  );
  // The longest waiting queue comes first, not the one with the lowest uid.
  await open.execute({ subscriptions: JSON.stringify(subscriptionUids), now: tx.context.time });
}

/** Selects due queues. */
export interface DueFilter {
  readonly time: number;
  readonly limit: number;
  /** Organizations to leave out. */
  readonly without?: readonly string[];
  /** The duration of the last attempt, in milliseconds. */
  readonly lasted?: readonly [shortest: number, longest: number];
}

/** Returns the subscriptions whose next attempt is due, the longest due first, `limit` at most. */
export async function findDueQueues(
  session: Session,
  { time, limit, without = [], lasted: [shortest, longest] = [0, Number.MAX_SAFE_INTEGER] }: DueFilter,
): Promise<string[]> {
  const statement = session.prepared("event_queues.due", (db, { eventQueues }) => {
    const { subscriptionUid: uid, lastDuration, nextTime } = eventQueues;
    return db
      .select({ uid })
      .from(eventQueues)
      .where(
        and(
          lte(nextTime, sql.placeholder("time")),
          between(lastDuration, sql.placeholder("shortest"), sql.placeholder("longest")),
          not(session.isAmong(organizationOf(uid), textPlaceholder("without"))),
        ),
      )
      .orderBy(asc(nextTime), asc(uid))
      .limit(limitOf("limit"));
  });
  const values = { time, limit, shortest, longest, without: JSON.stringify(without) };
  return (await statement.execute(values)).map(({ uid }) => uid);
}

/** Returns the next delivery of a subscription, or undefined if its queue is empty or it does not exist. */
export async function findNextDelivery(session: Session, subscriptionUid: string): Promise<NextDelivery | undefined> {
  const statement = session.prepared("event_deliveries.next", (db, tables) => {
    const { eventDeliveries, eventQueues, events, subscriptions, subscriptionSettings } = tables;
    return db
      .select({
        subscriptionUid: eventDeliveries.subscriptionUid,
        sequence: events.sequence,
        time: events.time,
        headers: events.headers,
        data: events.data,
        parent: subscriptions.parent,
        sink: subscriptions.sink,
        attempts: eventQueues.attempts,
        isPaused: subscriptionSettings.isPaused,
      })
      .from(eventDeliveries)
      .innerJoin(events, eq(events.sequence, eventDeliveries.sequence))
      .innerJoin(subscriptions, eq(subscriptions.uid, eventDeliveries.subscriptionUid))
      .innerJoin(eventQueues, eq(eventQueues.subscriptionUid, eventDeliveries.subscriptionUid))
      .leftJoin(subscriptionSettings, eq(subscriptionSettings.uid, eventDeliveries.subscriptionUid))
      .where(eq(eventDeliveries.subscriptionUid, textPlaceholder("subscriptionUid")))
      .orderBy(asc(eventDeliveries.sequence))
      .limit(limitOf(1));
  });
  return (await statement.execute({ subscriptionUid }))[0];
}

/** Removes a delivery from its queue after the last attempt, and deletes the event once no queue has it. */
export async function finishDelivery(
  tx: Transaction,
  { subscriptionUid, sequence, time }: Delivery & Pick<StoredEvent, "time">,
  lastDuration: number,
): Promise<void> {
  const remove = tx.prepared("event_deliveries.remove", (db, { eventDeliveries }) =>
    db
      .delete(eventDeliveries)
      .where(
        and(
          eq(eventDeliveries.subscriptionUid, sql.placeholder("subscriptionUid")),
          eq(eventDeliveries.sequence, sql.placeholder("sequence")),
        ),
      ),
  );
  await remove.execute({ subscriptionUid, sequence });
  await deleteDeliveredEvent(tx, sequence, time);
  await advanceQueue(tx, subscriptionUid, lastDuration);
}

/** Advances a queue to its next delivery, behind the queues of others. Deletes it if it is empty. */
export async function advanceQueue(tx: Transaction, subscriptionUid: string, lastDuration = 0): Promise<void> {
  // A concurrent append waits for the row of the queue and then creates another, or comes first and is seen here.
  await delayQueue(tx, subscriptionUid, { ...noFailures, lastDuration, nextTime: tx.context.time });
  if (!(await isAnyLeft(tx, subscriptionUid))) await closeQueue(tx, subscriptionUid);
}

/** Delays the next attempt of a queue. */
export async function delayQueue(
  tx: Transaction,
  subscriptionUid: string,
  { attempts, lastFailure, lastDuration, nextTime }: QueueState,
): Promise<void> {
  const statement = tx.prepared("event_queues.set", (db, { eventQueues }) =>
    db
      .update(eventQueues)
      .set({
        attempts: sql`${sql.placeholder("attempts")}`,
        lastFailure: sql`${sql.placeholder("lastFailure")}`,
        lastDuration: sql`${sql.placeholder("lastDuration")}`,
        nextTime: sql`${sql.placeholder("nextTime")}`,
      })
      .where(eq(eventQueues.subscriptionUid, sql.placeholder("subscriptionUid"))),
  );
  await statement.execute({ subscriptionUid, attempts, lastFailure, lastDuration, nextTime });
}

/** Has a queue tried at once. Does nothing if it is empty. */
export async function retryQueue(tx: Transaction, subscriptionUid: string): Promise<void> {
  const queue = await readQueue(tx, subscriptionUid);
  if (queue) await delayQueue(tx, subscriptionUid, { ...queue, nextTime: tx.context.time });
}

/** Returns the state of a queue, or undefined if it is empty. */
export async function readQueue(session: Session, subscriptionUid: string): Promise<QueueState | undefined> {
  return (await readQueues(session, [subscriptionUid])).get(subscriptionUid);
}

/** Returns the states of the queues of subscriptions; empty ones are missing. */
export async function readQueues(
  session: Session,
  subscriptionUids: readonly string[],
): Promise<ReadonlyMap<string, QueueState>> {
  const statement = session.prepared("event_queues.of_subscriptions", (db, { eventQueues }) =>
    db
      .select()
      .from(eventQueues)
      .where(session.isAmong(eventQueues.subscriptionUid, textPlaceholder("subscriptions"))),
  );
  const rows = await statement.execute({ subscriptions: JSON.stringify(subscriptionUids) });
  return new Map(rows.map(({ subscriptionUid, ...state }) => [subscriptionUid, state]));
}

/** Returns how many events wait for a subscription; `limit` stands for that many or more. */
export async function countWaiting(session: Session, subscriptionUid: string, limit: number): Promise<number> {
  const statement = session.prepared("event_deliveries.count", (db, { eventDeliveries }) => {
    const waiting = db
      .select({ sequence: eventDeliveries.sequence })
      .from(eventDeliveries)
      .where(eq(eventDeliveries.subscriptionUid, textPlaceholder("subscriptionUid")))
      .limit(limitOf("limit"))
      .as("waiting");
    return db.select({ rows: count() }).from(waiting);
  });
  return (await statement.execute({ subscriptionUid, limit }))[0]?.rows ?? 0;
}

async function isAnyLeft(tx: Transaction, subscriptionUid: string): Promise<boolean> {
  const statement = tx.prepared("event_deliveries.any", (db, { eventDeliveries }) =>
    db
      .select({ sequence: eventDeliveries.sequence })
      .from(eventDeliveries)
      .where(eq(eventDeliveries.subscriptionUid, sql.placeholder("subscriptionUid")))
      .limit(limitOf(1)),
  );
  return (await statement.execute({ subscriptionUid })).length > 0;
}

async function deleteDeliveredEvent(tx: Transaction, sequence: number, time: number): Promise<void> {
  const statement = tx.prepared("events.remove_told", (db, { events, eventDeliveries }) => {
    const waiting = db
      .select({ sequence: eventDeliveries.sequence })
      .from(eventDeliveries)
      .where(eq(eventDeliveries.sequence, sql.placeholder("sequence")));
    const { sequence: number, time: moment } = events;
    // By its time too: a redelivery to another subscription changes it, and this statement may not see that delivery yet.
    const delivered = and(eq(number, sql.placeholder("sequence")), eq(moment, sql.placeholder("time")));
    return db.delete(events).where(and(delivered, notExists(waiting)));
  });
  await statement.execute({ sequence, time });
}

async function closeQueue(tx: Transaction, subscriptionUid: string): Promise<void> {
  const statement = tx.prepared("event_queues.close", (db, { eventQueues }) =>
    db.delete(eventQueues).where(eq(eventQueues.subscriptionUid, sql.placeholder("subscriptionUid"))),
  );
  await statement.execute({ subscriptionUid });
}

/** Makes queues due whose next attempt lies further ahead than any delay: the clock was ahead when it was set. Stopped ones stay. */
export async function resetFutureRetries(tx: Transaction, longestWait: number): Promise<void> {
  const statement = tx.prepared("event_queues.bring_forward", (db, { eventQueues }) =>
    db
      .update(eventQueues)
      .set({ nextTime: sql`${numberPlaceholder("now")}` })
      .where(between(eventQueues.nextTime, sql.placeholder("latest"), sql.raw(String(stoppedTime - 1)))),
  );
  const { time: now } = tx.context;
  await statement.execute({ now, latest: now + longestWait });
}
