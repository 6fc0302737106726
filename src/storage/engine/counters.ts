// How many rows of a resource stand under a key. Kept in the transaction of every change, so that totals are exact and
// cost one point read whatever the size of the subtree.

import { and, eq, inArray, sql } from "../schema/drizzle.ts";
import { childrenKey, uidOfKey } from "../schema/entry-keys.ts";
import { numberPlaceholder, textPlaceholder } from "./placeholders.ts";
import type { CounterChanges, Session, Transaction } from "./session.ts";

/** Counters that change by the same number, next to each other in the order in which they are written. */
interface Run {
  readonly kind: string;
  readonly difference: number;
  readonly keys: string[];
}

/**
 * Gathers them, since they are for the end of a transaction: all writers of an organization meet at the counters of its root.
 * Whoever had changed one, and then waited for a row, would keep them all waiting, or wait for one of them in a circle.
 */
export function newCounterChanges(): CounterChanges {
  const differences = new Map<string, Map<string, number>>();
  const dropped = new Set<string>();
  return {
    add(keys, kind, difference) {
      const ofKind = differences.get(kind) ?? new Map<string, number>();
      differences.set(kind, ofKind);
      for (const key of keys) ofKind.set(key, (ofKind.get(key) ?? 0) + difference);
    },
    drop(uid) {
      dropped.add(uid);
      for (const ofKind of differences.values()) for (const key of [uid, childrenKey(uid)]) ofKind.delete(key);
    },
    forget(key, kind) {
      differences.get(kind)?.delete(key);
    },
    clear() {
      differences.clear();
      dropped.clear();
    },
    addTo(others) {
      for (const uid of dropped) others.drop(uid);
      for (const [kind, ofKind] of differences)
        for (const [key, difference] of ofKind) others.add([key], kind, difference);
    },
    apply(key, stored) {
      const counts = new Map(dropped.has(uidOfKey(key)) ? [] : stored);
      for (const [kind, ofKind] of differences) counts.set(kind, (counts.get(kind) ?? 0) + (ofKind.get(key) ?? 0));
      return counts;
    },
    async write(session) {
      for (const uid of [...dropped].sort()) await dropCounters(session, uid);
      for (const run of runsOf(differences)) await addToCounters(session, run);
    },
  };
}

/** The changes in the order that is the same for all writers, so that they never wait for each other in a circle. */
function runsOf(differences: ReadonlyMap<string, ReadonlyMap<string, number>>): Run[] {
  const runs: Run[] = [];
  for (const kind of [...differences.keys()].sort()) {
    const ofKind = differences.get(kind)!;
    for (const key of [...ofKind.keys()].sort()) {
      const difference = ofKind.get(key)!;
      if (difference === 0) continue;
      const last = runs.at(-1);
      if (last?.kind === kind && last.difference === difference) last.keys.push(key);
      else runs.push({ kind, difference, keys: [key] });
    }
  }
  return runs;
}

async function addToCounters(session: Session, { kind, difference, keys }: Run): Promise<void> {
  const statement = session.prepared("counters.add", (db, { counters }) => {
    const values = sql`select value, ${textPlaceholder("kind")}, ${numberPlaceholder("difference")}`;
    return (
      db
        .insert(counters)
        // Without a WHERE, SQLite takes the ON of the conflict for that of a join.
        .select(sql`${values} from ${session.textsOf(textPlaceholder("keys"))} where true`)
        .onConflictDoUpdate({
          target: [counters.key, counters.kind],
          set: { count: sql`${counters.count} + excluded.count` },
        })
    );
  });
  await statement.execute({ keys: JSON.stringify(keys), kind, difference });
}

/** Sets a counter whatever it was, and whatever was to be added to it. */
export async function setCounter(tx: Transaction, key: string, kind: string, count: number): Promise<void> {
  tx.pendingCounters?.forget(key, kind);
  const statement = tx.prepared("counters.set", (db, { counters }) =>
    db
      .insert(counters)
      .values({ key: sql.placeholder("key"), kind: sql.placeholder("kind"), count: sql.placeholder("count") })
      .onConflictDoUpdate({ target: [counters.key, counters.kind], set: { count: sql`excluded.count` } }),
  );
  await statement.execute({ key, kind, count });
}

/** The value of a counter; without what the transaction that asks has changed itself. */
export async function readCounter(session: Session, key: string, kind: string): Promise<number> {
  const statement = session.prepared("counters.read", (db, { counters }) =>
    db
      .select({ count: counters.count })
      .from(counters)
      .where(and(eq(counters.key, sql.placeholder("key")), eq(counters.kind, sql.placeholder("kind")))),
  );
  const stored = (await statement.execute({ key, kind }))[0]?.count ?? 0;
  return session.pendingCounters?.apply(key, new Map([[kind, stored]])).get(kind) ?? stored;
}

/** What lies below a uid, by resource; resources with nothing there are left out. As `readCounter`. */
export async function readCounters(session: Session, uid: string): Promise<Map<string, number>> {
  const statement = session.prepared("counters.below", (db, { counters }) =>
    db
      .select({ kind: counters.kind, count: counters.count })
      .from(counters)
      .where(eq(counters.key, sql.placeholder("uid"))),
  );
  const rows = await statement.execute({ uid });
  const stored = new Map(rows.map((row) => [row.kind, row.count]));
  const counts = session.pendingCounters?.apply(uid, stored) ?? stored;
  return new Map([...counts].filter(([, count]) => count !== 0));
}

async function dropCounters(session: Session, uid: string): Promise<void> {
  const statement = session.prepared("counters.drop", (db, { counters }) =>
    db.delete(counters).where(inArray(counters.key, [sql.placeholder("uid"), sql.placeholder("children")])),
  );
  await statement.execute({ uid, children: childrenKey(uid) });
}
