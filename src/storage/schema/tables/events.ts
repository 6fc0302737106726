import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Columns } from "../columns.postgres.ts";
import { entriesTable } from "./entries.ts";

/** Who wants to know of events, and what they have not been told of yet. */
export function defineEventTables(columns: Columns, groupUid: () => AnyPgColumn) {
  const { table, text, integer, json, index, primaryKey } = columns;
  const entries = entriesTable(columns);
  const subscriptions = table(
    "subscriptions",
    {
      uid: text().primaryKey(),
      parent: text().notNull().references(groupUid),
      sink: text().notNull(),
      createTime: integer().notNull(),
    },
    (t) => [index("subscriptions_parent").on(t.parent, t.uid)],
  );
  const subscriptionUid = () =>
    text()
      .notNull()
      .references((): AnyPgColumn => subscriptions.uid, { onDelete: "cascade" });

  const events = table(
    "events",
    {
      /** That of the change in the log, or of the first of those that are told of together. */
      sequence: integer().primaryKey(),
      /** When the change was made. */
      time: integer().notNull(),
      headers: json<Readonly<Record<string, string>>>().notNull(),
      data: text().notNull(),
    },
    (t) => [index("events_time").on(t.time)],
  );

  return {
    subscriptions,
    subscriptionEntries: entries("subscription_entries"),

    /** What is told of a change, as it was when it was read: the same whenever and to whomever it is sent. */
    events,

    /** The events that a subscription is still to be told of. */
    eventDeliveries: table(
      "event_deliveries",
      {
        subscriptionUid: subscriptionUid(),
        sequence: integer()
          .notNull()
          .references((): AnyPgColumn => events.sequence, { onDelete: "cascade" }),
      },
      (t) => [
        primaryKey({ columns: [t.subscriptionUid, t.sequence] }),
        index("event_deliveries_sequence").on(t.sequence),
      ],
    ),

    /** The subscriptions that have any, and how it goes with the first of them. */
    eventQueues: table(
      "event_queues",
      {
        subscriptionUid: subscriptionUid().primaryKey(),
        /** How often it was tried in vain. */
        attempts: integer().notNull(),
        /** Why it failed the last time; empty when it did not. */
        lastFailure: text().notNull(),
        /** How long the last attempt lasted, whatever came of it, in milliseconds; 0 before the first. */
        lastDuration: integer().notNull().default(0),
        /** It is not tried before. */
        nextTime: integer().notNull(),
      },
      (t) => [index("event_queues_due").on(t.nextTime, t.lastDuration)],
    ),
  };
}
