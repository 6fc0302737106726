// The numbers of users and groups of each identity provider: the totals of their lists, and what limits compare.
import type { PgColumn } from "drizzle-orm/pg-core";
import type { DerivedTables } from "../collection/collection.ts";
import { readCounter, setCounter } from "../engine/counters.ts";
import { limitOf } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { scanTable } from "../engine/table-scan.ts";
import { and, asc, eq, gt, sql } from "../schema/drizzle.ts";
import { childrenKey } from "../schema/entry-keys.ts";
import type { Tables } from "../schema/tables.ts";

/** A kind of rows that SCIM clients provision. */
export type ScimKind = "scim_users" | "scim_groups";

const providersOf: Readonly<Record<ScimKind, (tables: Tables) => PgColumn>> = {
  scim_users: ({ scimUsers }) => scimUsers.providerUid,
  scim_groups: ({ scimGroups }) => scimGroups.providerUid,
};

const pageSize = 1000;

/** Adds to the number of rows of a provider. The deletion of the provider deletes its counters. */
export function addToScimCounter(tx: Transaction, kind: ScimKind, providerUid: string, difference: 1 | -1): void {
  tx.counterChanges.add([childrenKey(providerUid)], kind, difference);
}

/** Returns the number of rows of a provider. */
export async function readScimCounter(session: Session, kind: ScimKind, providerUid: string): Promise<number> {
  return await readCounter(session, childrenKey(providerUid), kind);
}

/** Checks and repairs the counters. */
export const scimCounters: DerivedTables = {
  tables: ({ scimUsers, scimGroups }) => [scimUsers, scimGroups],
  async *findings(session) {
    for await (const { kind, key, stored, actual } of wrongCounters(session))
      yield `${kind}: the counter of ${key} is ${stored}, but there are ${actual} rows`;
  },
  async repair(tx) {
    let repaired = 0;
    for await (const { kind, key, actual } of wrongCounters(tx)) {
      await setCounter(tx, key, kind, actual);
      repaired++;
    }
    return repaired;
  },
};

async function* wrongCounters(session: Session) {
  for (const kind of ["scim_users", "scim_groups"] as const)
    for await (const { uid, stored, actual } of countersOf(session, kind))
      if (stored !== actual) yield { kind, key: childrenKey(uid), stored, actual };
}

async function* countersOf(session: Session, kind: ScimKind) {
  const statement = session.prepared(`${kind}.check.counters`, (db, tables) => {
    const { identityProviders: providers, counters } = tables;
    const providerUid = providersOf[kind](tables);
    return db
      .select({
        uid: providers.uid,
        stored: sql`coalesce(${counters.count}, 0)`.mapWith(Number),
        actual: sql`(select count(*) from ${providerUid.table} where ${providerUid} = ${providers.uid})`.mapWith(
          Number,
        ),
      })
      .from(providers)
      .leftJoin(
        counters,
        and(eq(counters.key, sql`${providers.uid} || '/*'`), eq(counters.kind, sql.placeholder("kind"))),
      )
      .where(gt(providers.uid, sql.placeholder("uid")))
      .orderBy(asc(providers.uid))
      .limit(limitOf(pageSize));
  });
  const read = (after: string) => statement.execute({ uid: after, kind });
  for await (const page of scanTable(pageSize, "", read, ({ uid }) => uid)) yield* page;
}
