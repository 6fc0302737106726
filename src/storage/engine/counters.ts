// Counts the rows of a resource under each key. Counters change in the transaction that changes the rows, so a total is
// exact and costs one point read.

import { and, eq, sql } from "../schema/drizzle.ts";
import { childrenKey, uidOfKey } from "../schema/entry-keys.ts";
import { numberPlaceholder, textPlaceholder } from "./placeholders.ts";
import type { CounterChanges, Session, Transaction } from "./session.ts";

/** Counters of one resource that change by the same number, adjacent in write order. */
interface Run {
  readonly kind: string;
  readonly difference: number;
  readonly keys: string[];
}

/**
 * Creates an empty set of changes. They are written at the end of the transaction: all writers of an organization
 * update the counters of its root. A writer that updated one early and then waited for a row would block the others, or
 * deadlock with one of them.
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
      // One round trip: the database executes the statements in this order.
      const drop = dropped.size > 0 ? [dropCounters(session, [...dropped])] : [];
      await Promise.all([...drop, ...runsOf(differences).map((run) => addToCounters(session, run))]);
    },
  };
}

/** Returns the changes in an order that is the same for all writers: they then cannot deadlock. */
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
        // SQLite needs a WHERE here, or it parses ON CONFLICT as the ON of a join.
        .select(sql`${values} from ${session.textsOf(textPlaceholder("keys"))} where true`)
        .onConflictDoUpdate({
          target: [counters.key, counters.kind],
          set: { count: sql`${counters.count} + excluded.count` },
        })
    );
  });
  await statement.execute({ keys: JSON.stringify(keys), kind, difference });
}

/** Overwrites a counter, and discards what this transaction was going to add to it. */
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

/** Returns the value of a counter. Changes of the current transaction are not included. */
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

/**
 * Returns the number of descendants of a uid, by resource, without zeros. Changes of the current transaction are not
 * included.
 */
export async function readCounters(session: Session, uid: string): Promise<Map<string, number>> {
  const stored = await storedCounters(session, uid);
  const counts = session.pendingCounters?.apply(uid, stored) ?? stored;
  return new Map([...counts].filter(([, count]) => count !== 0));
}

async function storedCounters(session: Session, uid: string): Promise<ReadonlyMap<string, number>> {
  if (session.gather) return (await session.gather.read("counters.below", [uid], readCountersOf)).get(uid)!;
  const statement = session.prepared("counters.below", (db, { counters }) =>
    db
      .select({ kind: counters.kind, count: counters.count })
      .from(counters)
      .where(eq(counters.key, sql.placeholder("uid"))),
  );
  const rows = await statement.execute({ uid });
  return new Map(rows.map((row) => [row.kind, row.count]));
}

/**
 * Returns the counters of several keys, by key and resource, without zeros, in one statement. Changes of the current transaction are not
 * included.
 */
export async function readCountersOf(
  session: Session,
  keys: readonly string[],
): Promise<Map<string, Map<string, number>>> {
  const statement = session.prepared("counters.of_keys", (db, { counters }) =>
    db
      .select({ key: counters.key, kind: counters.kind, count: counters.count })
      .from(counters)
      .where(session.isAmong(counters.key, textPlaceholder("keys"))),
  );
  const found = new Map(keys.map((key) => [key, new Map<string, number>()]));
  for (const { key, kind, count } of await statement.execute({ keys: JSON.stringify(keys) }))
    if (count !== 0) found.get(key)?.set(kind, count);
  return found;
}

async function dropCounters(session: Session, uids: readonly string[]): Promise<void> {
  const statement = session.prepared("counters.drop", (db, { counters }) =>
    db.delete(counters).where(session.isAmong(counters.key, textPlaceholder("keys"))),
  );
  await statement.execute({ keys: JSON.stringify(uids.flatMap((uid) => [uid, childrenKey(uid)])) });
}
