import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Columns } from "../columns.postgres.ts";
import { entriesTable } from "./entries.ts";

/** Subscriptions and their delivery queues. Long, because it only declares. */
export function defineEventTables(columns: Columns, groupUid: () => AnyPgColumn) {
  const { table, text, integer, boolean, json, index, primaryKey } = columns;
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
      /** The sequence number of the change, or of the first of several changes in one event. */
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

    /** The settings that the published subscription lacks. A subscription without a row has the defaults. */
    subscriptionSettings: table("subscription_settings", {
      uid: text()
        .primaryKey()
        .references((): AnyPgColumn => subscriptions.uid, { onDelete: "cascade" }),
      isPaused: boolean().notNull(),
      /** The kinds of resources whose events are sent; empty for all. */
      kinds: json<readonly string[]>().notNull(),
      description: text().notNull(),
      /** The number of events that were dropped since the subscription was paused. */
      droppedEvents: integer().notNull(),
      lastDropTime: integer(),
      /** The start of the minute in which test events are counted, and their number. */
      testTime: integer().notNull(),
      testEvents: integer().notNull(),
    }),

    /** Events as they are sent: the same content for every subscription and attempt. */
    events,

    /** The undelivered events of a subscription. */
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

    /** The subscriptions with undelivered events, and the state of their first delivery. */
    eventQueues: table(
      "event_queues",
      {
        subscriptionUid: subscriptionUid().primaryKey(),
        /** The number of failed attempts. */
        attempts: integer().notNull(),
        /** The reason of the last failure; empty if there was none. */
        lastFailure: text().notNull(),
        /** The duration of the last attempt in milliseconds, regardless of its result; 0 before the first. */
        lastDuration: integer().notNull().default(0),
        /** The earliest time of the next attempt. */
        nextTime: integer().notNull(),
      },
      (t) => [index("event_queues_due").on(t.nextTime, t.lastDuration)],
    ),

    /** The latest attempts of each subscription; older ones are deleted with each new one. */
    deliveryAttempts: table(
      "delivery_attempts",
      {
        subscriptionUid: subscriptionUid(),
        startTime: integer().notNull(),
        /** In milliseconds. */
        duration: integer().notNull(),
        eventType: text().notNull(),
        eventId: text().notNull(),
        /** The status of the response; 0 if there was none. */
        httpStatus: integer().notNull(),
        responseLine: text().notNull(),
        /** The reason why the attempt failed; empty if the event was delivered. */
        failure: text().notNull(),
        /** Whether the event was dropped after this attempt. */
        isDropped: boolean().notNull(),
        /** Null in rows of releases that stored none, as are the following columns. */
        uid: text(),
        /** The kind of failure; empty if the event was delivered or the reason is not shown. */
        reason: text(),
        /** The sequence number of the event; null for a test event. */
        sequence: integer(),
        /** The request and the response, encrypted; null without a key. */
        payload: text(),
      },
      (t) => [
        primaryKey({ columns: [t.subscriptionUid, t.startTime, t.eventId] }),
        index("delivery_attempts_uid").on(t.uid),
      ],
    ),
  };
}
