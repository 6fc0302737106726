// Filters lists of identities, and counts the role bindings of a page of them.
import type { SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { rangeBelow } from "../../model/uid.ts";
import { numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import type { Condition } from "../list/condition.ts";
import { and, count, eq, gte, lt, or, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { likePattern } from "../search/like-pattern.ts";

/** Filters a list of identities. Times are milliseconds since the epoch. */
export interface IdentityFilter {
  /** A part of a name, a subject or an ARN; empty for all. */
  readonly query: string;
  /** A part of an issuer; empty for all. */
  readonly issuer: string;
  readonly neverUsed: boolean;
  readonly seenBefore: number | undefined;
  readonly keysEnd: KeysEnd | undefined;
  /** The number of a relationship; undefined for all. */
  readonly relationshipType: number | undefined;
  readonly hasRefusedNames: boolean;
  /** Whether tokens got in with a name that could not be pinned. */
  readonly hasUnpinnedNames: boolean;
  /** Keeps identities without any pinned name that have one of these two relationships; undefined keeps all. */
  readonly unpinned: readonly [number, number] | undefined;
}

/** Identities whose keys expire before a time. */
export interface KeysEnd {
  /** The number of the relationship of static keys. */
  readonly relationshipType: number;
  readonly before: number;
  /** The creation time from which identities without an explicit expiry have keys that expire at the given time. */
  readonly createdBefore: number;
}

type Identities = Tables["identities"];

/** Each filter: whether it is set, its condition, and the values of the placeholders. */
const filters = {
  query: {
    test: ({ name, subject, relationship }: Identities) =>
      or(
        ...[name, subject, ...["subjectPattern", "arn", "arnPattern"].map((field) => member(relationship, field))].map(
          (text) => contains(text, "search.query"),
        ),
      ),
    values: ({ query }: IdentityFilter) => (query === "" ? undefined : { "search.query": likePattern(query) }),
  },
  issuer: {
    test: ({ issuer, relationship }: Identities) =>
      or(contains(issuer, "search.issuer"), contains(member(relationship, "issuerPattern"), "search.issuer")),
    values: ({ issuer }: IdentityFilter) => (issuer === "" ? undefined : { "search.issuer": likePattern(issuer) }),
  },
  neverUsed: {
    // The creation counts as seen.
    test: ({ lastSeenTime, createTime }: Identities) => sql`${lastSeenTime} <= ${createTime}`,
    values: ({ neverUsed }: IdentityFilter) => (neverUsed ? {} : undefined),
  },
  seenBefore: {
    test: ({ lastSeenTime }: Identities) => sql`${lastSeenTime} < ${numberPlaceholder("search.seen")}`,
    values: ({ seenBefore }: IdentityFilter) => (seenBefore === undefined ? undefined : { "search.seen": seenBefore }),
  },
  relationshipType: {
    test: ({ relationshipType }: Identities) => eq(relationshipType, sql`${numberPlaceholder("search.type")}`),
    values: ({ relationshipType: type }: IdentityFilter) => (type === undefined ? undefined : { "search.type": type }),
  },
  hasRefusedNames: {
    test: ({ trust }: Identities) => sql`(${trust} -> 'refused' ->> 0) is not null`,
    values: ({ hasRefusedNames }: IdentityFilter) => (hasRefusedNames ? {} : undefined),
  },
  hasUnpinnedNames: {
    test: ({ trust }: Identities) => sql`(${trust} -> 'unpinned' ->> 0) is not null`,
    values: ({ hasUnpinnedNames }: IdentityFilter) => (hasUnpinnedNames ? {} : undefined),
  },
  unpinned: {
    test: ({ trust, relationshipType }: Identities) =>
      and(
        sql`(${trust} -> 'pins' ->> 0) is null`,
        sql`${relationshipType} in (${numberPlaceholder("search.named")}, ${numberPlaceholder("search.role")})`,
      ),
    values: ({ unpinned }: IdentityFilter) => unpinned && { "search.named": unpinned[0], "search.role": unpinned[1] },
  },
  keysEnd: {
    test: ({ relationshipType, relationship, createTime }: Identities) => {
      // Protobuf JSON writes times in UTC. Its fractions have any number of digits, so whole seconds are compared.
      const expires = sql`substr(${member(relationship, "expirationTime")}, 1, 19)`;
      return and(
        eq(relationshipType, sql`${numberPlaceholder("search.static")}`),
        sql`coalesce(${expires} < ${textPlaceholder("search.ends")}, ${createTime} < ${numberPlaceholder("search.created")})`,
      );
    },
    values: ({ keysEnd }: IdentityFilter) =>
      keysEnd && {
        "search.static": keysEnd.relationshipType,
        "search.ends": new Date(keysEnd.before).toISOString().slice(0, 19),
        "search.created": keysEnd.createdBefore,
      },
  },
};

/** Returns the condition of a filter, or undefined if it matches all identities. */
export function identityCondition(filter: IdentityFilter): Condition | undefined {
  const found = Object.entries(filters).flatMap(([name, { test, values }]) => {
    const given: Readonly<Record<string, string | number>> | undefined = values(filter);
    return given === undefined ? [] : [{ name, test, given }];
  });
  if (found.length === 0) return undefined;
  return {
    name: ["search", ...found.map(({ name }) => name)].join("."),
    build: ({ tables: { identities } }) => and(...found.map(({ test }) => test(identities)))!,
    values: Object.assign({}, ...found.map(({ given }) => given)),
  };
}

/** Returns a member of the relationship, as text; null if it is not set. */
function member(relationship: Identities["relationship"], field: string): SQL {
  return sql`(${relationship} -> 'value' ->> ${sql.raw(`'${field}'`)})`;
}

function contains(text: SQL | PgColumn, placeholder: string): SQL {
  return sql`lower(${text}) like lower(${textPlaceholder(placeholder)}) escape '\\'`;
}

/** Returns how many role bindings identities have at a group and below it. Those without any are missing. */
export async function countBindingsOf(
  session: Session,
  identityUids: readonly string[],
  groupUid: string,
): Promise<ReadonlyMap<string, number>> {
  const statement = session.prepared("role_bindings.count_of", (db, { roleBindings }) =>
    db
      .select({ identityUid: roleBindings.identityUid, count: count() })
      .from(roleBindings)
      .where(
        and(
          session.isAmong(roleBindings.identityUid, textPlaceholder("identityUids")),
          gte(roleBindings.uid, sql.placeholder("from")),
          lt(roleBindings.uid, sql.placeholder("to")),
        ),
      )
      .groupBy(roleBindings.identityUid),
  );
  const rows = await statement.execute({ identityUids: JSON.stringify(identityUids), ...rangeBelow(groupUid) });
  return new Map(rows.map((row) => [row.identityUid, Number(row.count)]));
}
