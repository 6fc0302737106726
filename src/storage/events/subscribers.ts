// Who is told of changes, and up to which one they have been.

import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { compareAndSetSetting, readSetting } from "../engine/settings.ts";
import { asc } from "../schema/drizzle.ts";

/** Up to which change all deliveries are in the queues; the migration that made the queues has set it. */
const positionSetting = "events_position";

/** A subscription, as far as it decides about what it is told. */
export interface Subscriber {
  readonly uid: string;
  readonly parent: string;
}

/** The number of the change up to which all deliveries are in the queues. */
export async function readEventPosition(session: Session): Promise<number> {
  return Number((await readSetting(session, positionSetting)) ?? 0);
}

/** Moves on from one change to another; false when somebody else has moved on meanwhile. */
export async function advanceEventPosition(tx: Transaction, from: number, to: number): Promise<boolean> {
  return await compareAndSetSetting(tx, positionSetting, String(from), String(to));
}

/** Whether anybody has subscribed to anything. */
export async function hasSubscriptions(session: Session): Promise<boolean> {
  const statement = session.prepared("subscriptions.any", (db, { subscriptions }) =>
    db.select({ uid: subscriptions.uid }).from(subscriptions).limit(limitOf(1)),
  );
  return (await statement.execute()).length > 0;
}

/** The subscriptions of some groups. */
export async function findSubscribers(session: Session, groupUids: readonly string[]): Promise<Subscriber[]> {
  const statement = session.prepared("subscriptions.of_groups", (db, { subscriptions }) =>
    db
      .select({ uid: subscriptions.uid, parent: subscriptions.parent })
      .from(subscriptions)
      .where(session.isAmong(subscriptions.parent, textPlaceholder("groups"))),
  );
  return await statement.execute({ groups: JSON.stringify(groupUids) });
}

/** Those of some subscriptions that there still are. None of them goes before the transaction has ended. */
export async function lockSubscriptions(tx: Transaction, uids: readonly string[]): Promise<ReadonlySet<string>> {
  const statement = tx.prepared("subscriptions.lock", (db, { subscriptions }) => {
    const select = db
      .select({ uid: subscriptions.uid })
      .from(subscriptions)
      .where(tx.isAmong(subscriptions.uid, textPlaceholder("uids")))
      .orderBy(asc(subscriptions.uid));
    return tx.rowLock ? select.for(tx.rowLock) : select;
  });
  return new Set((await statement.execute({ uids: JSON.stringify(uids) })).map(({ uid }) => uid));
}
