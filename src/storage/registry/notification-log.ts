// Stores which registry notifications were processed, and the latest time of a notification about a tag or digest. The
// sweeper deletes both once no registry repeats notifications of that time.

import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { desc, eq, sql } from "../schema/drizzle.ts";

/** Returns whether the event was processed. */
export async function isKnownEvent(session: Session, id: string): Promise<boolean> {
  const statement = session.prepared("registry_events.get", (db, { registryEvents }) =>
    db
      .select({ id: registryEvents.id })
      .from(registryEvents)
      .where(eq(registryEvents.id, sql.placeholder("id"))),
  );
  return (await statement.execute({ id })).length > 0;
}

/** Stores that an event was processed. Returns false if it was already. */
export async function recordEvent(tx: Transaction, id: string): Promise<boolean> {
  const insert = tx.prepared("registry_events.insert", (db, { registryEvents }) =>
    db
      .insert(registryEvents)
      .values({ id: sql.placeholder("id"), time: sql.placeholder("time") })
      .onConflictDoNothing()
      .returning({ id: registryEvents.id }),
  );
  return (await insert.execute({ id, time: tx.context.time })).length > 0;
}

/** Returns the time of the latest event about one of these tags or digests, or undefined. */
export async function findLatestNotification(session: Session, things: readonly string[]): Promise<number | undefined> {
  const statement = session.prepared("registry_events.latest", (db, { registryEvents }) =>
    db
      .select({ time: registryEvents.time })
      .from(registryEvents)
      .where(session.isAmong(registryEvents.id, textPlaceholder("things")))
      .orderBy(desc(registryEvents.time))
      .limit(limitOf(1)),
  );
  return (await statement.execute({ things: JSON.stringify(things) }))[0]?.time;
}

/** Stores the time of an event about a tag or digest, unless that or a later one is stored. Returns whether it stored it. */
export async function recordNotificationTime(tx: Transaction, thing: string, time: number): Promise<boolean> {
  const told = tx.prepared("registry_events.told", (db, { registryEvents }) =>
    db
      .insert(registryEvents)
      .values({ id: sql.placeholder("id"), time: sql.placeholder("time") })
      .onConflictDoUpdate({
        target: registryEvents.id,
        set: { time: sql`excluded.time` },
        setWhere: sql`excluded.time > ${registryEvents.time}`,
      })
      .returning({ id: registryEvents.id }),
  );
  return (await told.execute({ id: thing, time })).length > 0;
}
