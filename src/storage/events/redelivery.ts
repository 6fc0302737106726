// Adds events to the queue of a subscription again.

import { rowPlaceholders } from "../engine/placeholders.ts";
import type { Transaction } from "../engine/session.ts";
import { and, eq, sql } from "../schema/drizzle.ts";
import { advanceQueue, type Delivery, openQueues, type StoredEvent } from "./delivery-queues.ts";

/**
 * Adds an event to the queue of a subscription again, which the transaction has locked, and has the queue tried at once. Returns false if
 * the event waits there already. Its time becomes that of the transaction: the time until it is dropped counts from then.
 */
export async function requeueEvent(
  tx: Transaction,
  { sequence, headers, data }: Omit<StoredEvent, "time">,
  subscriptionUid: string,
): Promise<boolean> {
  const insert = tx.prepared("events.insert_again", (db, { events }) =>
    db
      .insert(events)
      .values(rowPlaceholders(["sequence", "time", "headers", "data"]))
      .onConflictDoUpdate({ target: events.sequence, set: { time: sql`excluded.time` } }),
  );
  const add = tx.prepared("event_deliveries.add_one", (db, { eventDeliveries }) =>
    db.insert(eventDeliveries).values(rowPlaceholders(["subscriptionUid", "sequence"])),
  );
  if (await isWaiting(tx, { subscriptionUid, sequence })) return false;
  await insert.execute({ sequence, time: tx.context.time, headers, data });
  await add.execute({ subscriptionUid, sequence });
  await openQueues(tx, [subscriptionUid]);
  await advanceQueue(tx, subscriptionUid);
  return true;
}

async function isWaiting(tx: Transaction, { subscriptionUid, sequence }: Delivery): Promise<boolean> {
  const statement = tx.prepared("event_deliveries.has", (db, { eventDeliveries }) =>
    db
      .select({ sequence: eventDeliveries.sequence })
      .from(eventDeliveries)
      .where(
        and(
          eq(eventDeliveries.subscriptionUid, sql.placeholder("subscriptionUid")),
          eq(eventDeliveries.sequence, sql.placeholder("sequence")),
        ),
      ),
  );
  return (await statement.execute({ subscriptionUid, sequence })).length > 0;
}
