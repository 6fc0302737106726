import type { SQL, SQLWrapper } from "drizzle-orm";
import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Columns } from "../columns.postgres.ts";
import { isNotNull, sql } from "../drizzle.ts";
import { entriesTable } from "./entries.ts";

/** The session by which a request was made or decided: what decides later whether its person may still do so. */
export interface StoredSession {
  /** The uids of the external group role mappings. */
  readonly mappings: readonly string[];
  /** The uids that the person behind the token can have. */
  readonly people: readonly string[];
}

/** The decision of one person, as it is stored. */
export interface StoredDecision {
  readonly approverUid: string;
  readonly isApproval: boolean;
  readonly comment: string;
  readonly time: number;
  readonly counts: boolean;
  /** The external group role mappings of the session of the person. */
  readonly mappings: readonly string[];
}

/** Returns the condition of break-glass requests that nobody has acknowledged. It has an index. */
export function isUnacknowledged(columns: Readonly<Record<"breakGlass" | "acknowledgeTime", SQLWrapper>>): SQL {
  return sql`${columns.breakGlass} and ${columns.acknowledgeTime} is null`;
}

/** Access requests and their rules. */
export function defineAccessRequestTables(columns: Columns, groupUid: () => AnyPgColumn) {
  const { table, text, integer, boolean, json, index } = columns;
  const entries = entriesTable(columns);
  return {
    accessRequestRules: table(
      "access_request_rules",
      {
        uid: text().primaryKey(),
        parent: text().notNull().references(groupUid),
        name: text().notNull(),
        description: text().notNull(),
        /** Roles and identities may be deleted; they then give nothing. */
        roleUids: json<readonly string[]>().notNull(),
        /** Durations are in milliseconds. */
        maxDuration: integer().notNull(),
        decisionTime: integer().notNull(),
        requiredApprovals: integer().notNull(),
        eligibleRoleUids: json<readonly string[]>().notNull(),
        eligibleIdentityUids: json<readonly string[]>().notNull(),
        approverRoleUids: json<readonly string[]>().notNull(),
        approverIdentityUids: json<readonly string[]>().notNull(),
        reasonPattern: text().notNull(),
        breakGlass: boolean().notNull().default(false),
        createTime: integer().notNull(),
        updateTime: integer().notNull(),
      },
      (t) => [index("access_request_rules_parent").on(t.parent, t.uid)],
    ),
    accessRequestRuleEntries: entries("access_request_rule_entries"),

    /** The history stays when a rule, an identity or a role is deleted, so the tables of these do not restrict their uids. */
    accessRequests: table(
      "access_requests",
      {
        uid: text().primaryKey(),
        parent: text().notNull().references(groupUid),
        ruleUid: text().notNull(),
        identityUid: text().notNull(),
        roleUid: text().notNull(),
        /** In milliseconds. */
        duration: integer().notNull(),
        reason: text().notNull(),
        state: text().notNull(),
        decisions: json<readonly StoredDecision[]>().notNull(),
        session: json<StoredSession>().notNull(),
        decideBeforeTime: integer().notNull(),
        /** When a pending request expires and an active one ends; null for others. */
        dueTime: integer(),
        startTime: integer(),
        expireTime: integer(),
        /** Null if no binding gives the role. */
        roleBindingUid: text(),
        /** The end that the binding has without any request; null if it has none without them. */
        ownExpireTime: integer(),
        breakGlass: boolean().notNull().default(false),
        /** Null until another person acknowledges the break-glass. */
        acknowledgeTime: integer(),
        acknowledgerUid: text(),
        acknowledgeComment: text(),
        /** When the request reached its final state; null before. */
        closeTime: integer(),
        createTime: integer().notNull(),
      },
      (t) => [
        index("access_requests_parent").on(t.parent, t.uid),
        index("access_requests_identity").on(t.identityUid, t.createTime),
        index("access_requests_binding").on(t.roleBindingUid),
        index("access_requests_due").on(t.dueTime).where(isNotNull(t.dueTime)),
        index("access_requests_open").on(t.uid).where(isNotNull(t.dueTime)),
        index("access_requests_unacknowledged").on(t.uid).where(isUnacknowledged(t)),
        index("access_requests_closed").on(t.closeTime).where(isNotNull(t.closeTime)),
      ],
    ),
    accessRequestEntries: entries("access_request_entries"),
  };
}
