// The subscriptions, and the position in the change log up to which events are queued.

import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { compareAndSetSetting, readSetting } from "../engine/settings.ts";
import { asc, eq } from "../schema/drizzle.ts";

/** The setting of that position; a migration initialized it. */
const positionSetting = "events_position";

/** The attributes of a subscription by which it receives events. */
export interface Subscriber {
  readonly uid: string;
  readonly parent: string;
  /** The kinds of resources whose events it receives; empty or null for all. */
  readonly kinds: readonly string[] | null;
}

/** Returns the sequence number of the change up to which all events are queued. */
export async function readEventPosition(session: Session): Promise<number> {
  return Number((await readSetting(session, positionSetting)) ?? 0);
}

/** Advances the position. Returns false if another node has advanced it meanwhile. */
export async function advanceEventPosition(tx: Transaction, from: number, to: number): Promise<boolean> {
  return await compareAndSetSetting(tx, positionSetting, String(from), String(to));
}

/** Returns whether there are subscriptions. */
export async function hasSubscriptions(session: Session): Promise<boolean> {
  const statement = session.prepared("subscriptions.any", (db, { subscriptions }) =>
    db.select({ uid: subscriptions.uid }).from(subscriptions).limit(limitOf(1)),
  );
  return (await statement.execute()).length > 0;
}

/** Returns the subscriptions of groups. */
export async function findSubscribers(session: Session, groupUids: readonly string[]): Promise<Subscriber[]> {
  const statement = session.prepared("subscriptions.of_groups", (db, { subscriptions, subscriptionSettings }) =>
    db
      .select({ uid: subscriptions.uid, parent: subscriptions.parent, kinds: subscriptionSettings.kinds })
      .from(subscriptions)
      .leftJoin(subscriptionSettings, eq(subscriptionSettings.uid, subscriptions.uid))
      .where(session.isAmong(subscriptions.parent, textPlaceholder("groups"))),
  );
  return await statement.execute({ groups: JSON.stringify(groupUids) });
}

/** Returns which of these subscriptions exist, and locks them: none is deleted before the transaction ends. */
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
