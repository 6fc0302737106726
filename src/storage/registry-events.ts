// Which notifications of registries were dealt with already. `sweep.ts` forgets those that no registry repeats any more.
import { eq, sql } from "./drizzle.ts";
import type { Session, Transaction } from "./session.ts";

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
