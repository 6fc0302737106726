import { isAccessRequest } from "../access-requests.ts";
import type { Columns } from "../columns.postgres.ts";
import { organizationOf } from "../organization.ts";

/** What is kept beside the resources: how many there are, how they changed, and facts about the installation. */
export function defineInstallationTables(columns: Columns) {
  const { table, text, integer, json, sequence, index, primaryKey } = columns;
  return {
    /** How many entries a key has, by resource: what makes totals exact without counting. */
    counters: table("counters", { key: text().notNull(), kind: text().notNull(), count: integer().notNull() }, (t) => [
      primaryKey({ columns: [t.key, t.kind] }),
    ]),

    /** One row per change of a resource, written in the transaction that makes it. Secrets never enter it. */
    changes: table(
      "changes",
      {
        sequence: sequence(),
        time: integer().notNull(),
        actor: text().notNull(),
        /** The claims of the outside token by which the actor became who they are; null when there are none. */
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
      ],
    ),

    signingKeys: table("signing_keys", {
      kid: text().primaryKey(),
      algorithm: text().notNull(),
      privateJwk: text().notNull(),
      createTime: integer().notNull(),
      retireTime: integer(),
    }),

    /** Facts about the installation, such as its page-token key, and the access epoch. */
    settings: table("settings", { name: text().primaryKey(), value: text().notNull() }),
  };
}
