// The roles that users and identities of an issuer have in an organization.
import { rangeBelow } from "../../model/uid.ts";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, eq, gte, lt, not, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { effectiveGroup } from "./grants.ts";

/** Returns the custom roles of an organization. */
export async function findRolesOf(session: Session, rootUid: string) {
  const statement = session.prepared("roles.of", (db, { roles }) =>
    db
      .select({ uid: roles.uid, capabilities: roles.capabilities })
      .from(roles)
      .where(and(gte(roles.uid, sql.placeholder("from")), lt(roles.uid, sql.placeholder("to")))),
  );
  return await statement.execute(rangeBelow(rootUid));
}

/** Returns the groups and roles that users of the issuer have in an organization, among these roles, each pair once. */
export async function findRolesOfPeople(
  session: Session,
  rootUid: string,
  issuer: string,
  roleUids: readonly string[],
) {
  const statement = session.prepared("vouched.people", (db, { identities, roleBindings }) =>
    db
      .selectDistinct({ groupUid: roleBindings.parent, roleUid: roleBindings.roleUid })
      .from(roleBindings)
      .innerJoin(identities, eq(identities.uid, roleBindings.identityUid))
      .where(
        and(
          session.isAmong(roleBindings.roleUid, textPlaceholder("roles")),
          isWithinRange(roleBindings.uid),
          // Written to avoid the indexes of users and issuers: most of them belong to other organizations.
          sql`${identities.uid} not like '%/%'`,
          sql`${identities.issuer} || '' = ${sql.placeholder("issuer")}`,
        ),
      ),
  );
  return await statement.execute({ ...rangeBelow(rootUid), issuer, roles: JSON.stringify(roleUids) });
}

/**
 * Returns the roles of an organization's identities that name the issuer, or may have an issuer pattern: of these roles
 * within the organization, or any role outside of it. Reads at most `limit` bindings of each, and tells whether that
 * was all.
 */
export async function findRolesOfIdentities(
  session: Session,
  rootUid: string,
  issuer: string,
  roleUids: readonly string[],
  limit: number,
) {
  const values = { ...rangeBelow(rootUid), issuer, limit };
  const inside = await bindingsOf(session, "inside").execute({ ...values, roles: JSON.stringify(roleUids) });
  const outside = await bindingsOf(session, "outside").execute(values);
  const isComplete = inside.length < limit && outside.length < limit;
  const held = [...inside, ...outside].flatMap(({ identityUid, boundAt, ...role }) => {
    const groupUid = effectiveGroup(identityUid, boundAt);
    return groupUid === undefined ? [] : [{ ...role, groupUid }];
  });
  return { isComplete, held };
}

function bindingsOf(session: Session, where: "inside" | "outside") {
  return session.prepared(`vouched.${where}`, (db, { identities, roleBindings, roles }) => {
    const isInside = isWithinRange(roleBindings.uid);
    return db
      .select({
        identityUid: identities.uid,
        relationship: identities.relationship,
        boundAt: roleBindings.parent,
        roleUid: roles.uid,
        capabilities: roles.capabilities,
      })
      .from(roleBindings)
      .innerJoin(identities, eq(identities.uid, roleBindings.identityUid))
      .innerJoin(roles, eq(roles.uid, roleBindings.roleUid))
      .where(
        and(
          isWithinRange(identities.uid),
          // An identity with a pattern has an empty issuer, as has one without any.
          sql`${identities.issuer} || '' in (${sql.placeholder("issuer")}, '')`,
          where === "inside"
            ? and(isInside, session.isAmong(roleBindings.roleUid, textPlaceholder("roles")))
            : not(isInside!),
        ),
      )
      .limit(limitOf("limit"));
  });
}

function isWithinRange(uid: Tables["identities"]["uid"] | Tables["roleBindings"]["uid"]) {
  return and(gte(uid, sql.placeholder("from")), lt(uid, sql.placeholder("to")));
}
