// Reads which identities of an organization have the issuer and subject of a deactivated person (docs/design/sign-in.md). A suspension has
// only the digest of the two, so their digests are compared outside of the database.
import type { SQL, SQLWrapper } from "drizzle-orm";
import { rangeBelow } from "../../model/uid.ts";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, asc, eq, isNotNull, sql } from "../schema/drizzle.ts";

/** An identity that an exact issuer and subject can assume. */
export interface ExactIdentity {
  readonly uid: string;
  readonly issuer: string;
  readonly subject: string;
}

/** The suspension of a person. */
export interface Suspension {
  readonly identityUid: string;
  readonly providerUid: string;
  readonly createTime: number;
}

/**
 * Returns the identities of an organization, and those of other organizations with roles in it, that have these issuers; `limit` at most,
 * in the order of their uids. User identities are not among them.
 */
export async function listExactIdentities(
  session: Session,
  organization: string,
  issuers: readonly string[],
  limit: number,
): Promise<ExactIdentity[]> {
  const statement = session.prepared("identities.of_issuers", (db, { identities, roleBindings }) => {
    const { uid, parent, issuer, subject } = identities;
    const isBound = sql`exists (select 1 from ${roleBindings} where ${roleBindings.identityUid} = ${uid}
      and ${isWithinRange(roleBindings.uid)})`;
    return db
      .select({ uid, issuer, subject })
      .from(identities)
      .where(
        and(
          session.isAmong(issuer, textPlaceholder("issuers")),
          isNotNull(parent),
          sql`(${isWithinRange(uid)} or ${isBound})`,
        ),
      )
      .orderBy(asc(uid))
      .limit(limitOf("limit"));
  });
  return await statement.execute({ issuers: JSON.stringify(issuers), ...rangeBelow(organization), limit });
}

/** Returns the issuers of deactivated people: those of the providers that deactivated them, and those that they signed in by before. */
export async function findIssuersOfSuspended(session: Session, organization: string): Promise<string[]> {
  const ofProviders = session.prepared(
    "scim_suspensions.provider_issuers",
    (db, { scimSuspensions, identityProviders }) =>
      db
        .selectDistinct({ issuer: identityProviders.issuer })
        .from(scimSuspensions)
        .innerJoin(identityProviders, eq(identityProviders.uid, scimSuspensions.providerUid))
        .where(isWithinRange(scimSuspensions.providerUid)),
  );
  const ofPeople = session.prepared("scim_suspensions.person_issuers", (db, { scimSuspensions, identities }) =>
    db
      .selectDistinct({ issuer: identities.issuer })
      .from(scimSuspensions)
      .innerJoin(identities, eq(identities.uid, scimSuspensions.identityUid))
      .where(isWithinRange(scimSuspensions.providerUid)),
  );
  const range = rangeBelow(organization);
  const found = [...(await ofProviders.execute(range)), ...(await ofPeople.execute(range))];
  return [...new Set(found.map(({ issuer }) => issuer))].filter((issuer) => issuer !== "");
}

/** Returns whether an identity of an organization has one of these issuers and exactly this subject. */
export async function namesIdentity(
  session: Session,
  organization: string,
  issuers: readonly string[],
  subject: string,
): Promise<boolean> {
  const statement = session.prepared("identities.named", (db, { identities }) =>
    db
      .select({ uid: identities.uid })
      .from(identities)
      .where(
        and(
          session.isAmong(identities.issuer, textPlaceholder("issuers")),
          eq(identities.subject, textPlaceholder("subject")),
          isWithinRange(identities.uid),
        ),
      )
      .limit(limitOf(1)),
  );
  return (
    (await statement.execute({ issuers: JSON.stringify(issuers), subject, ...rangeBelow(organization) })).length > 0
  );
}

/** Returns the suspensions of these identities by providers of an organization. */
export async function findSuspensionsIn(
  session: Session,
  organization: string,
  identityUids: readonly string[],
): Promise<Suspension[]> {
  const statement = session.prepared("scim_suspensions.in", (db, { scimSuspensions }) =>
    db
      .select()
      .from(scimSuspensions)
      .where(
        and(
          session.isAmong(scimSuspensions.identityUid, textPlaceholder("identities")),
          isWithinRange(scimSuspensions.providerUid),
        ),
      ),
  );
  return await statement.execute({ identities: JSON.stringify(identityUids), ...rangeBelow(organization) });
}

/** Returns delegations of an organization that these identities vouch for, in the order of their uids, `limit` at most. */
export async function findDelegationsOfMakers(
  session: Session,
  organization: string,
  makerUids: readonly string[],
  limit: number,
) {
  const statement = session.prepared("delegations.of_makers", (db, { delegations }) =>
    db
      .select()
      .from(delegations)
      .where(and(session.isAmong(delegations.makerUid, textPlaceholder("makers")), isWithinRange(delegations.uid)))
      .orderBy(asc(delegations.uid), asc(delegations.kind))
      .limit(limitOf("limit")),
  );
  return await statement.execute({ makers: JSON.stringify(makerUids), ...rangeBelow(organization), limit });
}

/** Whether a uid is in the range of the placeholders. */
function isWithinRange(uid: SQLWrapper): SQL {
  return sql`(${uid} > ${textPlaceholder("from")} and ${uid} < ${textPlaceholder("to")})`;
}
