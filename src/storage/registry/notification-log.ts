// Which notifications of registries were dealt with already, and how late the latest about a tag or a digest was. `sweep.ts`
// forgets both when no registry repeats any of that time any more.

import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { desc, eq, sql } from "../schema/drizzle.ts";

/** Whether the event was dealt with. */
export async function isKnownEvent(session: Session, id: string): Promise<boolean> {
  const statement = session.prepared("registry_events.get", (db, { registryEvents }) =>
    db
      .select({ id: registryEvents.id })
      .from(registryEvents)
      .where(eq(registryEvents.id, sql.placeholder("id"))),
  );
  return (await statement.execute({ id })).length > 0;
}

/** Remembers an event; false when it was remembered already. */
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

/** The time of the latest event about one of these things; undefined when none was told of. */
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

/** Remembers an event of a time about a thing, unless a later one is remembered. */
export async function recordNotificationTime(tx: Transaction, thing: string, time: number): Promise<void> {
  const told = tx.prepared("registry_events.told", (db, { registryEvents }) =>
    db
      .insert(registryEvents)
      .values({ id: sql.placeholder("id"), time: sql.placeholder("time") })
      .onConflictDoUpdate({
        target: registryEvents.id,
        set: { time: sql`excluded.time` },
        setWhere: sql`excluded.time > ${registryEvents.time}`,
      }),
  );
  await told.execute({ id: thing, time });
}
