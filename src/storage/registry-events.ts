// Which notifications of registries were dealt with already.
import { eq, lt, sql } from "./drizzle.ts";
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

/** Remembers an event and forgets those before `forgetBefore`; false when it was remembered already. */
export async function recordEvent(tx: Transaction, id: string, forgetBefore: number): Promise<boolean> {
  const insert = tx.prepared("registry_events.insert", (db, { registryEvents }) =>
    db
      .insert(registryEvents)
      .values({ id: sql.placeholder("id"), time: sql.placeholder("time") })
      .onConflictDoNothing()
      .returning({ id: registryEvents.id }),
  );
  const forget = tx.prepared("registry_events.forget", (db, { registryEvents }) =>
    db.delete(registryEvents).where(lt(registryEvents.time, sql.placeholder("before"))),
  );
  const added = await insert.execute({ id, time: tx.context.time });
  await forget.execute({ before: forgetBefore });
  return added.length > 0;
}
