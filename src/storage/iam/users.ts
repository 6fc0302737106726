// Finds the people who hold roles at a group and below it. The statements read the role bindings of this subtree, which are one range of
// their primary key, and then each person once.
import type { SQL } from "drizzle-orm";
import { rangeBelow, rootOf } from "../../model/uid.ts";
import { limitOf, numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Queries, Session } from "../engine/session.ts";
import { and, asc, count, countDistinct, desc, eq, gt, gte, lt, lte, not, or, sql } from "../schema/drizzle.ts";
import { maxSortPrefix } from "../schema/ordered-text.ts";
import type { Tables } from "../schema/tables.ts";
import { likePattern } from "../search/like-pattern.ts";
import { reachingColumns } from "./grants.ts";
import type { HolderBinding } from "./holders.ts";

/** The people to find. */
export interface PeopleQuery {
  readonly groupUid: string;
  /** A part of a name or an e-mail address, or a uid; empty for all. */
  readonly query: string;
}

/** The position of a person in the list. */
export interface PersonCursor {
  readonly sortKey: string;
  readonly uid: string;
}

/** The page of people to read, by name and uid. */
export interface PeoplePage {
  readonly descending: boolean;
  /** The page starts after this person; undefined for the first. */
  readonly after: PersonCursor | undefined;
  readonly skip: number;
  readonly limit: number;
}

/** A person, and when they accepted the organization; null if they have not. */
export interface FoundPerson extends PersonCursor {
  readonly joinTime: number | null;
}

/** Returns one page of the people. */
export async function findPeople(session: Session, query: PeopleQuery, page: PeoplePage): Promise<FoundPerson[]> {
  const { descending, after, skip, limit } = page;
  const key = [query.query === "" ? "all" : "query", descending ? "desc" : "asc", after ? "after" : "first"].join(".");
  const statement = session.prepared(`people.page.${key}`, (db, tables) => {
    const { identities, memberships } = tables;
    const { people, isPerson, isMembership, sortKey, isFound } = peopleOf(db, tables);
    const [order, beyond] = descending ? [desc, lt] : [asc, gt];
    const isAfter = or(
      beyond(sortKey, textPlaceholder("afterKey")),
      and(eq(sortKey, textPlaceholder("afterKey")), beyond(people.uid, textPlaceholder("afterUid"))),
    );
    return db
      .select({ uid: people.uid, sortKey, joinTime: memberships.createTime })
      .from(people)
      .innerJoin(identities, isPerson)
      .leftJoin(memberships, isMembership)
      .where(and(query.query === "" ? undefined : isFound, after ? isAfter : undefined))
      .orderBy(order(sortKey), order(people.uid))
      .limit(limitOf("limit"))
      .offset(sql.placeholder("skip"));
  });
  const cursor = { afterKey: after?.sortKey ?? "", afterUid: after?.uid ?? "" };
  const rows = await statement.execute({ ...valuesOf(query), ...cursor, skip, limit });
  return rows.map(({ joinTime, ...person }) => ({ ...person, joinTime: joinTime === null ? null : Number(joinTime) }));
}

/** Counts the people of all pages. */
export async function countPeople(session: Session, query: PeopleQuery): Promise<number> {
  const all = session.prepared("people.count.all", (db, tables) =>
    db
      .select({ count: countDistinct(tables.roleBindings.identityUid) })
      .from(tables.roleBindings)
      .where(isOfPerson(tables)),
  );
  const matching = session.prepared("people.count.query", (db, tables) => {
    const { identities, memberships } = tables;
    const { people, isPerson, isMembership, isFound } = peopleOf(db, tables);
    return db
      .select({ count: count() })
      .from(people)
      .innerJoin(identities, isPerson)
      .leftJoin(memberships, isMembership)
      .where(isFound);
  });
  const statement = query.query === "" ? all : matching;
  return Number((await statement.execute(valuesOf(query)))[0]?.count);
}

/** Returns the people, and the expressions over them, their identities and their memberships. */
function peopleOf(db: Queries, tables: Tables) {
  const { roleBindings, identities, memberships } = tables;
  const people = db
    .selectDistinct({ uid: roleBindings.identityUid })
    .from(roleBindings)
    .where(isOfPerson(tables))
    .as("people");
  const hasJoined = sql`${memberships.createTime} is not null`;
  const name = sql`substr(lower(${identities.name}), 1, ${sql.raw(String(maxSortPrefix))})`;
  // The name of a person who has not joined must not decide where they stand: the organization does not know it (docs/design/access.md).
  const sortKey = sql<string>`case when ${hasJoined} then '0' || ${name} else '1' end`;
  const contains = (text: SQL) => sql`${text} like lower(${textPlaceholder("pattern")}) escape '\\'`;
  const isFound = or(
    eq(people.uid, textPlaceholder("query")),
    and(hasJoined, or(...[identities.name, identities.email].map((column) => contains(sql`lower(${column})`)))),
  );
  return {
    people,
    isPerson: eq(identities.uid, people.uid),
    isMembership: and(
      eq(memberships.identityUid, people.uid),
      eq(memberships.groupUid, textPlaceholder("organization")),
    ),
    sortKey,
    isFound,
  };
}

/** Returns a condition: the role binding is of a person, at the group or below it. */
function isOfPerson({ roleBindings: { uid, identityUid } }: Tables): SQL | undefined {
  // People belong to no group, so their uids have one segment.
  return and(gte(uid, textPlaceholder("from")), lt(uid, textPlaceholder("to")), not(sql`${identityUid} like '%/%'`));
}

function valuesOf({ groupUid, query }: PeopleQuery) {
  return { ...rangeBelow(groupUid), organization: rootOf(groupUid), query, pattern: likePattern(query) };
}

/** A role binding, and how many its identity has in all. */
export interface CountedBinding extends HolderBinding {
  readonly total: number;
}

/** Returns the first bindings of each identity at a group and below it, `limit` of each at most. */
export async function findFirstBindings(
  session: Session,
  identityUids: readonly string[],
  groupUid: string,
  limit: number,
): Promise<CountedBinding[]> {
  const statement = session.prepared("role_bindings.first_of", (db, tables) => {
    const { roleBindings, roles, groups } = tables;
    const { uid, identityUid } = roleBindings;
    const ranked = db
      .select({
        uid,
        identityUid,
        place: sql<number>`row_number() over (partition by ${identityUid} order by ${uid})`.as("place"),
        total: sql<number>`count(*) over (partition by ${identityUid})`.as("total"),
      })
      .from(roleBindings)
      .where(
        and(
          session.isAmong(identityUid, textPlaceholder("identities")),
          gte(uid, textPlaceholder("from")),
          lt(uid, textPlaceholder("to")),
        ),
      )
      .as("ranked");
    return db
      .select({
        identityUid: ranked.identityUid,
        total: ranked.total,
        ...reachingColumns(tables),
      })
      .from(ranked)
      .innerJoin(roleBindings, eq(roleBindings.uid, ranked.uid))
      .innerJoin(roles, eq(roles.uid, roleBindings.roleUid))
      .innerJoin(groups, eq(groups.uid, roleBindings.parent))
      .where(lte(ranked.place, numberPlaceholder("limit")))
      .orderBy(ranked.identityUid, ranked.uid);
  });
  const values = { identities: JSON.stringify(identityUids), ...rangeBelow(groupUid), limit };
  return (await statement.execute(values)).map((row) => ({ ...row, total: Number(row.total) }));
}
