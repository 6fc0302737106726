// The groups that SCIM clients provision, and their members (docs/design/sign-in.md).
import { limitOf, placeholders, rowPlaceholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, count, eq, or, sql } from "../schema/drizzle.ts";
import { addToScimCounter, readScimCounter } from "./scim-counters.ts";
import { conditionOf, keyOf, ofProvider, rangeOf, requireOne, type ScimPage, valuesOf } from "./scim-users.ts";

/** A provisioned group as it is stored, without its members. */
export interface ScimGroupRow {
  readonly uid: string;
  readonly providerUid: string;
  readonly displayName: string;
  readonly displayNameKey: string;
  readonly externalId: string | null;
  readonly version: number;
  readonly createTime: number;
  readonly updateTime: number;
}

const columns = [
  ...(["uid", "providerUid", "displayName", "displayNameKey", "externalId"] as const),
  ...(["version", "createTime", "updateTime"] as const),
];

/** How many members one statement adds or removes. */
const membersOfStatement = 5_000;

/** A user in a group, with the name of the group. */
export interface ScimMembership {
  readonly groupUid: string;
  readonly groupName: string;
  readonly userUid: string;
}

/** Returns the group with this uid, or undefined. */
export async function findScimGroup(session: Session, uid: string): Promise<ScimGroupRow | undefined> {
  const statement = session.prepared("scim_groups.get", (db, { scimGroups }) =>
    db
      .select()
      .from(scimGroups)
      .where(eq(scimGroups.uid, sql.placeholder("uid"))),
  );
  return (await statement.execute({ uid }))[0];
}

/** Returns a page of the groups of a provider, in the order of their uids. */
export async function listScimGroups(session: Session, page: ScimPage): Promise<ScimGroupRow[]> {
  const { providerUid, condition, skip, limit } = page;
  const statement = session.prepared(`scim_groups.list.${keyOf(condition)}`, (db, { scimGroups }) =>
    db
      .select()
      .from(scimGroups)
      .where(and(ofProvider(scimGroups, condition), conditionOf(scimGroups, condition)))
      .orderBy(asc(scimGroups.uid))
      .limit(limitOf("limit"))
      .offset(sql.placeholder("skip")),
  );
  return await statement.execute({ ...rangeOf(providerUid), skip, limit, ...valuesOf(condition) });
}

/** Counts the groups of a provider. */
export async function countScimGroups(
  session: Session,
  { providerUid, condition }: Pick<ScimPage, "providerUid" | "condition">,
): Promise<number> {
  if (!condition) return await readScimCounter(session, "scim_groups", providerUid);
  const statement = session.prepared(`scim_groups.count.${keyOf(condition)}`, (db, { scimGroups }) =>
    db
      .select({ rows: count() })
      .from(scimGroups)
      .where(and(eq(scimGroups.providerUid, textPlaceholder("providerUid")), conditionOf(scimGroups, condition))),
  );
  return Number((await statement.execute({ providerUid, ...valuesOf(condition) }))[0]?.rows ?? 0);
}

/** Inserts a group. Throws UniqueViolation for an externalId that another group of the provider has. */
export async function insertScimGroup(tx: Transaction, row: ScimGroupRow): Promise<void> {
  const statement = tx.prepared("scim_groups.insert", (db, { scimGroups }) =>
    db.insert(scimGroups).values(rowPlaceholders(columns)),
  );
  await statement.execute({ ...row });
  addToScimCounter(tx, "scim_groups", row.providerUid, 1);
}

/** Replaces a group as this transaction read it. Throws ConcurrencyConflict, and UniqueViolation as an insert does. */
export async function updateScimGroup(tx: Transaction, before: ScimGroupRow, after: ScimGroupRow): Promise<void> {
  const statement = tx.prepared("scim_groups.update", (db, { scimGroups }) =>
    db
      .update(scimGroups)
      .set(placeholders(columns.slice(2)))
      .where(and(eq(scimGroups.uid, sql.placeholder("uid")), eq(scimGroups.version, sql.placeholder("known"))))
      .returning({ uid: scimGroups.uid }),
  );
  requireOne(await statement.execute({ ...after, known: before.version }), before.uid);
}

/** Deletes a group as this transaction read it, and its memberships. Throws ConcurrencyConflict. */
export async function deleteScimGroup(tx: Transaction, { uid, version, providerUid }: ScimGroupRow): Promise<void> {
  const statement = tx.prepared("scim_groups.delete", (db, { scimGroups }) =>
    db
      .delete(scimGroups)
      .where(and(eq(scimGroups.uid, sql.placeholder("uid")), eq(scimGroups.version, sql.placeholder("known"))))
      .returning({ uid: scimGroups.uid }),
  );
  requireOne(await statement.execute({ uid, known: version }), uid);
  addToScimCounter(tx, "scim_groups", providerUid, -1);
}

/** Adds users to a group. Ignores existing members. Throws ReferenceViolation for a user that does not exist. */
export async function addScimMembers(tx: Transaction, groupUid: string, userUids: readonly string[]): Promise<void> {
  const statement = tx.prepared("scim_members.add", (db, { scimMembers }) =>
    db
      .insert(scimMembers)
      // SQLite needs a WHERE here, or it parses ON CONFLICT as the ON of a join.
      .select(sql`select ${textPlaceholder("groupUid")}, value from ${tx.textsOf(textPlaceholder("uids"))} where true`)
      .onConflictDoNothing(),
  );
  for (const uids of chunksOf(userUids)) await statement.execute({ groupUid, uids: JSON.stringify(uids) });
}

/** Removes users from a group. */
export async function removeScimMembers(tx: Transaction, groupUid: string, userUids: readonly string[]): Promise<void> {
  const statement = tx.prepared("scim_members.remove", (db, { scimMembers }) =>
    db
      .delete(scimMembers)
      .where(
        and(
          eq(scimMembers.groupUid, textPlaceholder("groupUid")),
          tx.isAmong(scimMembers.userUid, textPlaceholder("uids")),
        ),
      ),
  );
  for (const uids of chunksOf(userUids)) await statement.execute({ groupUid, uids: JSON.stringify(uids) });
}

/** Splits the members of a request into the parameters of several statements: a group may have 50,000. */
function chunksOf(userUids: readonly string[]): string[][] {
  const count = Math.ceil(userUids.length / membersOfStatement);
  return Array.from({ length: count }, (_, i) => userUids.slice(i * membersOfStatement, (i + 1) * membersOfStatement));
}

/** Returns which of these users are members of a group. */
export async function findScimMembersAmong(session: Session, groupUid: string, userUids: readonly string[]) {
  const statement = session.prepared("scim_members.among", (db, { scimMembers }) =>
    db
      .select({ userUid: scimMembers.userUid })
      .from(scimMembers)
      .where(
        and(
          eq(scimMembers.groupUid, textPlaceholder("groupUid")),
          session.isAmong(scimMembers.userUid, textPlaceholder("uids")),
        ),
      ),
  );
  const found = await statement.execute({ groupUid, uids: JSON.stringify(userUids) });
  return new Set(found.map(({ userUid }) => userUid));
}

/** Returns the uids of the members of a group. */
export async function findScimMemberUids(session: Session, groupUid: string): Promise<string[]> {
  const statement = session.prepared("scim_members.uids", (db, { scimMembers }) =>
    db
      .select({ userUid: scimMembers.userUid })
      .from(scimMembers)
      .where(eq(scimMembers.groupUid, sql.placeholder("groupUid"))),
  );
  return (await statement.execute({ groupUid })).map(({ userUid }) => userUid);
}

/** Counts the members of a group. */
export async function countScimMembers(session: Session, groupUid: string): Promise<number> {
  const statement = session.prepared("scim_members.count", (db, { scimMembers }) =>
    db
      .select({ rows: count() })
      .from(scimMembers)
      .where(eq(scimMembers.groupUid, sql.placeholder("groupUid"))),
  );
  return Number((await statement.execute({ groupUid }))[0]?.rows ?? 0);
}

/** Returns which of these uids are those of users. */
export async function findExistingScimUsers(session: Session, uids: readonly string[]): Promise<ReadonlySet<string>> {
  const statement = session.prepared("scim_users.existing", (db, { scimUsers }) =>
    db
      .select({ uid: scimUsers.uid })
      .from(scimUsers)
      .where(session.isAmong(scimUsers.uid, textPlaceholder("uids"))),
  );
  return new Set((await statement.execute({ uids: JSON.stringify(uids) })).map(({ uid }) => uid));
}

/** Returns the memberships of groups or of users, `limit` at most, in the order of this column. */
export async function findScimMemberships(
  session: Session,
  column: "groupUid" | "userUid",
  uids: readonly string[],
  limit: number,
): Promise<ScimMembership[]> {
  if (uids.length === 0) return [];
  const statement = session.prepared(`scim_members.of.${column}`, (db, { scimMembers, scimGroups }) =>
    db
      .select({
        groupUid: scimMembers.groupUid,
        groupName: scimGroups.displayName,
        userUid: scimMembers.userUid,
      })
      .from(scimMembers)
      .innerJoin(scimGroups, eq(scimGroups.uid, scimMembers.groupUid))
      .where(session.isAmong(scimMembers[column], textPlaceholder("uids")))
      .orderBy(asc(scimMembers[column]), asc(scimMembers[column === "groupUid" ? "userUid" : "groupUid"]))
      .limit(limitOf("limit")),
  );
  return await statement.execute({ uids: JSON.stringify(uids), limit });
}

/**
 * Returns the uids of the external group role mappings that apply to a user identity, by the groups of the provisioned
 * users who sign in as it. Only while provisioning is enabled, the user is active, and has signed in by the provider.
 */
export async function findProvisionedMappings(session: Session, identityUid: string, limit: number): Promise<string[]> {
  const statement = session.prepared("scim_members.mappings", (db, tables) => {
    const { scimUsers, scimMembers, scimGroups, identityProviders, externalGroupRoleMappings: mappings } = tables;
    return db
      .selectDistinct({ uid: mappings.uid })
      .from(scimUsers)
      .innerJoin(identityProviders, eq(identityProviders.uid, scimUsers.providerUid))
      .innerJoin(scimMembers, eq(scimMembers.userUid, scimUsers.uid))
      .innerJoin(scimGroups, eq(scimGroups.uid, scimMembers.groupUid))
      .innerJoin(
        mappings,
        and(
          eq(mappings.parent, scimUsers.providerUid),
          or(eq(mappings.externalGroupId, scimGroups.displayName), eq(mappings.externalGroupId, scimGroups.externalId)),
        ),
      )
      .where(
        and(
          eq(scimUsers.identityUid, textPlaceholder("identityUid")),
          eq(scimUsers.isActive, true),
          sql`${scimUsers.signInTime} is not null`,
          eq(identityProviders.scimEnabled, true),
        ),
      )
      .orderBy(mappings.uid)
      .limit(limitOf("limit"));
  });
  return (await statement.execute({ identityUid, limit })).map(({ uid }) => uid);
}
