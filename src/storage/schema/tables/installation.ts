import { isAccessRequest } from "../access-requests.ts";
import type { Columns } from "../columns.postgres.ts";
import { isDeletion } from "../deletions.ts";
import { organizationOf } from "../organization.ts";

/** Counters, the change log, signing keys and settings. Long, because it only declares. */
export function defineInstallationTables(columns: Columns) {
  const { table, text, integer, json, sequence, index, primaryKey } = columns;
  return {
    /** The number of entries under a key, by resource: exact totals without counting. */
    counters: table("counters", { key: text().notNull(), kind: text().notNull(), count: integer().notNull() }, (t) => [
      primaryKey({ columns: [t.key, t.kind] }),
    ]),

    /** One row per change of a resource, written in the transaction that makes it. It never has secrets. */
    changes: table(
      "changes",
      {
        sequence: sequence(),
        time: integer().notNull(),
        actor: text().notNull(),
        /** The claims of the subject token that the actor exchanged; null if there was none. */
        actorClaims: json<Readonly<Record<string, string>>>(),
        method: text().notNull(),
        kind: text().notNull(),
        uid: text().notNull(),
        groupUid: text().notNull(),
        before: json<unknown>(),
        after: json<unknown>(),
        requestId: text().notNull(),
      },
      (t) => [
        index("changes_kind").on(t.kind, t.sequence),
        index("changes_organization").on(organizationOf(t.groupUid), t.sequence),
        index("changes_access_requests").on(t.uid, t.actor, t.sequence).where(isAccessRequest(t.kind)),
        index("changes_deletions").on(t.uid, t.kind).where(isDeletion(t.after)),
      ],
    ),

    signingKeys: table("signing_keys", {
      kid: text().primaryKey(),
      algorithm: text().notNull(),
      privateJwk: text().notNull(),
      createTime: integer().notNull(),
      retireTime: integer(),
    }),

    /** The servers that share a PostgreSQL database, one row each. Empty on SQLite, which has one server. */
    nodes: table("nodes", {
      id: text().primaryKey(),
      hostName: text().notNull(),
      version: text().notNull(),
      workerCount: integer().notNull(),
      startTime: integer().notNull(),
      lastSeenTime: integer().notNull(),
    }),

    /** Settings of the installation, such as its page token key and the access epoch. */
    settings: table("settings", { name: text().primaryKey(), value: text().notNull() }),
  };
}
