// Who is still to be told of which changes: a queue for each subscription, in the order of the change log.

import { limitOf, numberPlaceholder, rowPlaceholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, between, eq, gt, lte, not, notExists, sql } from "../schema/drizzle.ts";
import { organizationOf } from "../schema/organization.ts";

/** What is told of a change. */
export interface StoredEvent {
  /** That of the change in the log, or of the first of those that are told of together. */
  readonly sequence: number;
  /** When it happened, in milliseconds since the epoch. */
  readonly time: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly data: string;
}

/** An event that a subscription is to be told of. */
export interface Delivery {
  readonly subscriptionUid: string;
  readonly sequence: number;
}

/** How it goes with the first delivery of a queue. */
export interface QueueState {
  /** How often it was tried in vain. */
  readonly attempts: number;
  /** Why it failed the last time; empty when it did not. */
  readonly lastFailure: string;
  /** How long the last attempt lasted, whatever came of it, in milliseconds; 0 before the first. */
  readonly lastDuration: number;
  /** It is not tried before, in milliseconds since the epoch. */
  readonly nextTime: number;
}

const noFailures = { attempts: 0, lastFailure: "" } as const;

/** What is to be sent next to a subscription, and where. */
export interface NextDelivery extends Delivery, StoredEvent {
  /** The group that subscribed. */
  readonly parent: string;
  readonly sink: string;
  /** How often it was tried in vain. */
  readonly attempts: number;
}

/** Keeps an event, and puts it into the queues of subscriptions, which are locked. */
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
  const open = tx.prepared("event_queues.open", (db, { eventQueues }) =>
    db
      .insert(eventQueues)
      // SQLite takes the ON of ON CONFLICT for that of a join, unless there is a WHERE before it.
      .select(
        sql`select value, 0, '', 0, ${numberPlaceholder("now")} from ${tx.textsOf(textPlaceholder("subscriptions"))} where true`,
      )
      .onConflictDoUpdate({ target: eventQueues.subscriptionUid, set: { attempts: sql`${eventQueues.attempts}` } }),
  );
  const subscriptions = JSON.stringify(subscriptionUids);
  await insert.execute({ ...event });
  await add.execute({ subscriptions, sequence: event.sequence });
  // Whoever waits longest comes first, whatever the uids are.
  await open.execute({ subscriptions, now: tx.context.time });
}

/** Which queues are due. */
export interface DueFilter {
  readonly time: number;
  readonly limit: number;
  /** The organizations whose queues are left out, which can have any number of them. */
  readonly without?: readonly string[];
  /** How long the last attempt has lasted, from one number of milliseconds to another. */
  readonly lasted?: readonly [shortest: number, longest: number];
}

/** The subscriptions whose next delivery may be tried at a time, the longest due first: so many at most. */
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

/** The next delivery of a subscription; undefined when there is none, or no such subscription any more. */
export async function findNextDelivery(session: Session, subscriptionUid: string): Promise<NextDelivery | undefined> {
  const statement = session.prepared("event_deliveries.next", (db, tables) => {
    const { eventDeliveries, eventQueues, events, subscriptions } = tables;
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
      })
      .from(eventDeliveries)
      .innerJoin(events, eq(events.sequence, eventDeliveries.sequence))
      .innerJoin(subscriptions, eq(subscriptions.uid, eventDeliveries.subscriptionUid))
      .innerJoin(eventQueues, eq(eventQueues.subscriptionUid, eventDeliveries.subscriptionUid))
      .where(eq(eventDeliveries.subscriptionUid, textPlaceholder("subscriptionUid")))
      .orderBy(asc(eventDeliveries.sequence))
      .limit(limitOf(1));
  });
  return (await statement.execute({ subscriptionUid }))[0];
}

/** Takes a delivery from its queue after its last attempt, and the event away when nobody else is still to be told of it. */
export async function finishDelivery(tx: Transaction, delivery: Delivery, lastDuration: number): Promise<void> {
  const { subscriptionUid, sequence } = delivery;
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
  await deleteDeliveredEvent(tx, sequence);
  await advanceQueue(tx, subscriptionUid, lastDuration);
}

/** Has a queue go on with what follows, behind those of others, or go when nothing is left in it. */
export async function advanceQueue(tx: Transaction, subscriptionUid: string, lastDuration = 0): Promise<void> {
  // Whoever puts something into it meanwhile waits for its row, and then makes another, or is waited for, and then seen.
  await delayQueue(tx, subscriptionUid, { ...noFailures, lastDuration, nextTime: tx.context.time });
  if (!(await isAnyLeft(tx, subscriptionUid))) await closeQueue(tx, subscriptionUid);
}

/** Has a subscription wait before its next delivery is tried again. */
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

/** How it goes with the first delivery of a subscription; undefined when none waits. */
export async function readQueue(session: Session, subscriptionUid: string): Promise<QueueState | undefined> {
  const statement = session.prepared("event_queues.get", (db, { eventQueues }) => {
    const { attempts, lastFailure, lastDuration, nextTime } = eventQueues;
    return db
      .select({ attempts, lastFailure, lastDuration, nextTime })
      .from(eventQueues)
      .where(eq(eventQueues.subscriptionUid, sql.placeholder("subscriptionUid")));
  });
  return (await statement.execute({ subscriptionUid }))[0];
}

/** When the events happened that wait for a subscription, in their order: so many at most. */
export async function findWaiting(session: Session, subscriptionUid: string, limit: number): Promise<number[]> {
  const statement = session.prepared("event_deliveries.waiting", (db, { eventDeliveries, events }) =>
    db
      .select({ time: events.time })
      .from(eventDeliveries)
      .innerJoin(events, eq(events.sequence, eventDeliveries.sequence))
      .where(eq(eventDeliveries.subscriptionUid, textPlaceholder("subscriptionUid")))
      .orderBy(asc(eventDeliveries.sequence))
      .limit(limitOf("limit")),
  );
  return (await statement.execute({ subscriptionUid, limit })).map(({ time }) => time);
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

async function deleteDeliveredEvent(tx: Transaction, sequence: number): Promise<void> {
  const statement = tx.prepared("events.remove_told", (db, { events, eventDeliveries }) => {
    const waiting = db
      .select({ sequence: eventDeliveries.sequence })
      .from(eventDeliveries)
      .where(eq(eventDeliveries.sequence, sql.placeholder("sequence")));
    return db.delete(events).where(and(eq(events.sequence, sql.placeholder("sequence")), notExists(waiting)));
  });
  await statement.execute({ sequence });
}

async function closeQueue(tx: Transaction, subscriptionUid: string): Promise<void> {
  const statement = tx.prepared("event_queues.close", (db, { eventQueues }) =>
    db.delete(eventQueues).where(eq(eventQueues.subscriptionUid, sql.placeholder("subscriptionUid"))),
  );
  await statement.execute({ subscriptionUid });
}

/** Has queues that would wait longer than anybody has them wait tried now: the clock was ahead when they were told to. */
export async function resetFutureRetries(tx: Transaction, longestWait: number): Promise<void> {
  const statement = tx.prepared("event_queues.bring_forward", (db, { eventQueues }) =>
    db
      .update(eventQueues)
      .set({ nextTime: sql`${numberPlaceholder("now")}` })
      .where(gt(eventQueues.nextTime, sql.placeholder("latest"))),
  );
  const { time: now } = tx.context;
  await statement.execute({ now, latest: now + longestWait });
}
