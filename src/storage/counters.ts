// How many rows of a resource stand under a key. Kept in the transaction of every change, so that totals are exact and
// cost one point read whatever the size of the subtree.
import { numberPlaceholder, textPlaceholder } from "./condition.ts";
import { and, eq, inArray, sql } from "./drizzle.ts";
import type { Session, Transaction } from "./session.ts";

/** Adds to counters, which start at zero. */
export async function addToCounters(
  tx: Transaction,
  keys: readonly string[],
  kind: string,
  difference: 1 | -1,
): Promise<void> {
  const statement = tx.prepared("counters.add", (db, { counters }) => {
    const values = sql`select value, ${textPlaceholder("kind")}, ${numberPlaceholder("difference")}`;
    return (
      db
        .insert(counters)
        // Without a WHERE, SQLite takes the ON of the conflict for that of a join.
        .select(sql`${values} from ${tx.textsOf(textPlaceholder("keys"))} where true`)
        .onConflictDoUpdate({
          target: [counters.key, counters.kind],
          set: { count: sql`${counters.count} + excluded.count` },
        })
    );
  });
  await statement.execute({ keys: JSON.stringify(keys), kind, difference });
}

/** Sets a counter whatever it was. */
export async function setCounter(tx: Transaction, key: string, kind: string, count: number): Promise<void> {
  const statement = tx.prepared("counters.set", (db, { counters }) =>
    db
      .insert(counters)
      .values({ key: sql.placeholder("key"), kind: sql.placeholder("kind"), count: sql.placeholder("count") })
      .onConflictDoUpdate({ target: [counters.key, counters.kind], set: { count: sql`excluded.count` } }),
  );
  await statement.execute({ key, kind, count });
}

/** The value of a counter. */
export async function readCounter(session: Session, key: string, kind: string): Promise<number> {
  const statement = session.prepared("counters.read", (db, { counters }) =>
    db
      .select({ count: counters.count })
      .from(counters)
      .where(and(eq(counters.key, sql.placeholder("key")), eq(counters.kind, sql.placeholder("kind")))),
  );
  return (await statement.execute({ key, kind }))[0]?.count ?? 0;
}

/** What lies below a uid, by resource; resources with nothing there are left out. */
export async function readCounters(session: Session, uid: string): Promise<Map<string, number>> {
  const statement = session.prepared("counters.below", (db, { counters }) =>
    db
      .select({ kind: counters.kind, count: counters.count })
      .from(counters)
      .where(eq(counters.key, sql.placeholder("uid"))),
  );
  const rows = await statement.execute({ uid });
  return new Map(rows.filter((row) => row.count !== 0).map((row) => [row.kind, row.count]));
}

/** Forgets the counters below a uid that is gone. */
export async function dropCounters(tx: Transaction, uid: string): Promise<void> {
  const statement = tx.prepared("counters.drop", (db, { counters }) =>
    db.delete(counters).where(inArray(counters.key, [sql.placeholder("uid"), sql.placeholder("children")])),
  );
  await statement.execute({ uid, children: `${uid}/*` });
}
