// The settings of subscriptions that the published API lacks, and the counts that belong to them.
import { rowPlaceholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import type { Scan } from "../list/scan.ts";
import { gt, sql } from "../schema/drizzle.ts";
import { lockSubscriptions } from "./subscribers.ts";

/** The settings of a subscription. */
export interface SubscriptionSettings {
  readonly isPaused: boolean;
  /** The kinds of resources whose events are sent; empty for all. */
  readonly kinds: readonly string[];
  readonly description: string;
}

/** The settings with the counts. Times are in milliseconds since the epoch. */
export interface SettingsRow extends SubscriptionSettings {
  readonly uid: string;
  /** The number of events that were dropped since the subscription was paused. */
  readonly droppedEvents: number;
  /** When the last of them was dropped; null if none was. */
  readonly lastDropTime: number | null;
  /** The start of the minute in which test events are counted, and their number. */
  readonly testTime: number;
  readonly testEvents: number;
}

/** The kind of settings in the change log. */
export const settingsKind = "subscription_settings";

const defaults: Omit<SettingsRow, "uid"> = {
  isPaused: false,
  kinds: [],
  description: "",
  droppedEvents: 0,
  lastDropTime: null,
  testTime: 0,
  testEvents: 0,
};

const columns = [
  ...(["uid", "isPaused", "kinds", "description", "droppedEvents", "lastDropTime"] as const),
  ...(["testTime", "testEvents"] as const),
];

/** Returns the settings of a subscription: the defaults if none are stored. */
export async function readSettings(session: Session, uid: string): Promise<SettingsRow> {
  return (await readSettingsOf(session, [uid]))(uid);
}

/** Returns the function that returns the settings of one of these subscriptions. */
export async function readSettingsOf(session: Session, uids: readonly string[]): Promise<(uid: string) => SettingsRow> {
  const statement = session.prepared("subscription_settings.of", (db, { subscriptionSettings }) =>
    db
      .select()
      .from(subscriptionSettings)
      .where(session.isAmong(subscriptionSettings.uid, textPlaceholder("uids"))),
  );
  const rows: SettingsRow[] = await statement.execute({ uids: JSON.stringify(uids) });
  const byUid = new Map(rows.map((row) => [row.uid, row]));
  return (uid) => byUid.get(uid) ?? { uid, ...defaults };
}

/** Locks a subscription and returns its settings; undefined if it does not exist. */
export async function lockSettings(tx: Transaction, uid: string): Promise<SettingsRow | undefined> {
  // The row of the settings may not exist yet.
  return (await lockSubscriptions(tx, [uid])).has(uid) ? await readSettings(tx, uid) : undefined;
}

/** Stores the settings of a subscription, which the transaction has locked. */
export async function writeSettings(tx: Transaction, row: SettingsRow): Promise<void> {
  const statement = tx.prepared("subscription_settings.set", (db, { subscriptionSettings }) => {
    const set = {
      isPaused: sql`excluded.is_paused`,
      kinds: sql`excluded.kinds`,
      description: sql`excluded.description`,
      droppedEvents: sql`excluded.dropped_events`,
      lastDropTime: sql`excluded.last_drop_time`,
      testTime: sql`excluded.test_time`,
      testEvents: sql`excluded.test_events`,
    };
    return db
      .insert(subscriptionSettings)
      .values(rowPlaceholders(columns))
      .onConflictDoUpdate({ target: subscriptionSettings.uid, set });
  });
  await statement.execute({ ...row });
}

/** Finds the paused subscriptions of which events were dropped. */
export const droppingSubscriptions: Scan = {
  kind: "subscriptions",
  table: ({ subscriptionSettings }) => subscriptionSettings,
  uid: ({ subscriptionSettings }) => subscriptionSettings.uid,
  condition: {
    name: "dropping",
    build: ({ tables: { subscriptionSettings } }) => gt(subscriptionSettings.droppedEvents, sql.raw("0")),
    values: {},
  },
};
