// The users that SCIM clients provision, each for one identity provider (docs/design/sign-in.md).
import type { AnyColumn, SQL } from "drizzle-orm";
import { rangeBelow } from "../../model/uid.ts";
import { ConcurrencyConflict } from "../engine/errors.ts";
import { limitOf, numberPlaceholder, placeholders, rowPlaceholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, count, eq, gt, gte, lt, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { addToScimCounter, readScimCounter } from "./scim-counters.ts";

/** A provisioned user as it is stored. Keys are in lower case. */
export interface ScimUserRow {
  readonly uid: string;
  readonly providerUid: string;
  readonly userNameKey: string;
  readonly displayNameKey: string;
  readonly externalId: string | null;
  readonly isActive: boolean;
  /** The uid of the user identity that signs in as this person; null if it is not known yet. */
  readonly identityUid: string | null;
  readonly signInTime: number | null;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly version: number;
  readonly createTime: number;
  readonly updateTime: number;
}

const columns = [
  ...(["uid", "providerUid", "userNameKey", "displayNameKey", "externalId", "isActive", "identityUid"] as const),
  ...(["signInTime", "attributes", "version", "createTime", "updateTime"] as const),
];

/** A condition that the database evaluates by an index. The other conditions of a filter are evaluated on rows. */
export interface ScimCondition {
  readonly column: "uid" | "userNameKey" | "displayNameKey" | "externalId" | "isActive" | "updateTime";
  readonly operator: "eq" | "sw" | "gt" | "ge";
  readonly value: string | number | boolean;
}

/** The rows of a provider to read. */
export interface ScimPage {
  readonly providerUid: string;
  readonly condition: ScimCondition | undefined;
  readonly skip: number;
  readonly limit: number;
}

/** Returns the user with this uid, or undefined. */
export async function findScimUser(session: Session, uid: string): Promise<ScimUserRow | undefined> {
  const statement = session.prepared("scim_users.get", (db, { scimUsers }) =>
    db
      .select()
      .from(scimUsers)
      .where(eq(scimUsers.uid, sql.placeholder("uid"))),
  );
  return (await statement.execute({ uid }))[0];
}

/** Returns the user of a provider with this externalId, or undefined. */
export async function findScimUserByExternalId(session: Session, providerUid: string, externalId: string) {
  const statement = session.prepared("scim_users.by_external_id", (db, { scimUsers }) =>
    db
      .select()
      .from(scimUsers)
      .where(
        and(
          eq(scimUsers.providerUid, sql.placeholder("providerUid")),
          eq(scimUsers.externalId, sql.placeholder("externalId")),
        ),
      ),
  );
  return (await statement.execute({ providerUid, externalId }))[0];
}

/** Returns the users who sign in as a user identity, of any provider. */
export async function findScimUsersByIdentity(session: Session, identityUid: string): Promise<ScimUserRow[]> {
  const statement = session.prepared("scim_users.by_identity", (db, { scimUsers }) =>
    db
      .select()
      .from(scimUsers)
      .where(eq(scimUsers.identityUid, textPlaceholder("identityUid")))
      .orderBy(asc(scimUsers.uid)),
  );
  return await statement.execute({ identityUid });
}

/** Returns a page of the users of a provider, in the order of their uids. */
export async function listScimUsers(session: Session, page: ScimPage): Promise<ScimUserRow[]> {
  const { providerUid, condition, skip, limit } = page;
  const statement = session.prepared(`scim_users.list.${keyOf(condition)}`, (db, { scimUsers }) =>
    db
      .select()
      .from(scimUsers)
      .where(and(ofProvider(scimUsers, condition), conditionOf(scimUsers, condition)))
      .orderBy(asc(scimUsers.uid))
      .limit(limitOf("limit"))
      .offset(sql.placeholder("skip")),
  );
  return await statement.execute({ ...rangeOf(providerUid), skip, limit, ...valuesOf(condition) });
}

/** Counts the users of a provider. */
export async function countScimUsers(
  session: Session,
  { providerUid, condition }: Pick<ScimPage, "providerUid" | "condition">,
): Promise<number> {
  if (!condition) return await readScimCounter(session, "scim_users", providerUid);
  const statement = session.prepared(`scim_users.count.${keyOf(condition)}`, (db, { scimUsers }) =>
    db
      .select({ rows: count() })
      .from(scimUsers)
      .where(and(eq(scimUsers.providerUid, textPlaceholder("providerUid")), conditionOf(scimUsers, condition))),
  );
  return Number((await statement.execute({ providerUid, ...valuesOf(condition) }))[0]?.rows ?? 0);
}

/** Inserts a user. Throws UniqueViolation for a user name or an externalId that another user of the provider has. */
export async function insertScimUser(tx: Transaction, row: ScimUserRow): Promise<void> {
  const statement = tx.prepared("scim_users.insert", (db, { scimUsers }) =>
    db.insert(scimUsers).values(rowPlaceholders(columns)),
  );
  await statement.execute({ ...row });
  addToScimCounter(tx, "scim_users", row.providerUid, 1);
}

/** Replaces a user as this transaction read it. Throws ConcurrencyConflict, and UniqueViolation as an insert does. */
export async function updateScimUser(tx: Transaction, before: ScimUserRow, after: ScimUserRow): Promise<void> {
  const statement = tx.prepared("scim_users.update", (db, { scimUsers }) =>
    db
      .update(scimUsers)
      .set(placeholders(columns.slice(2)))
      .where(isUnchanged(scimUsers))
      .returning({ uid: scimUsers.uid }),
  );
  requireOne(await statement.execute({ ...after, ...stateOf(before) }), before.uid);
}

/** Deletes a user as this transaction read it, and its memberships. Throws ConcurrencyConflict. */
export async function deleteScimUser(tx: Transaction, before: ScimUserRow): Promise<void> {
  const statement = tx.prepared("scim_users.delete", (db, { scimUsers }) =>
    db.delete(scimUsers).where(isUnchanged(scimUsers)).returning({ uid: scimUsers.uid }),
  );
  requireOne(await statement.execute({ uid: before.uid, ...stateOf(before) }), before.uid);
  addToScimCounter(tx, "scim_users", before.providerUid, -1);
}

/** Forgets which identities sign in as the users of a provider, because it trusts other tokens from now on. */
export async function unlinkScimUsers(tx: Transaction, providerUid: string): Promise<void> {
  const statement = tx.prepared("scim_users.unlink", (db, { scimUsers }) =>
    db
      .update(scimUsers)
      .set({ identityUid: null, signInTime: null })
      .where(eq(scimUsers.providerUid, sql.placeholder("providerUid"))),
  );
  await statement.execute({ providerUid });
}

/** The link to an identity changes without a new version of the resource, so both are compared. */
function isUnchanged({ uid, version, identityUid, signInTime }: Tables["scimUsers"]): SQL | undefined {
  return and(
    eq(uid, sql.placeholder("uid")),
    eq(version, sql.placeholder("knownVersion")),
    sql`${identityUid} is not distinct from ${textPlaceholder("knownIdentity")}`,
    sql`${signInTime} is not distinct from ${numberPlaceholder("knownSignIn")}`,
  );
}

function stateOf({ version, identityUid, signInTime }: ScimUserRow) {
  return { knownVersion: version, knownIdentity: identityUid, knownSignIn: signInTime };
}

/** Throws ConcurrencyConflict if a statement has changed no row. */
export function requireOne(changed: readonly unknown[], uid: string): void {
  if (changed.length === 0) throw new ConcurrencyConflict(`the SCIM resource ${uid} has changed`);
}

/** Conditions have few columns and operators, so there are few statements. */
export function keyOf(condition: ScimCondition | undefined): string {
  return condition ? `${condition.column}.${condition.operator}` : "all";
}

/**
 * Returns the condition for the rows of a provider. Without an index for the other condition, the rows are a range of the
 * primary key, which has the order of lists: the databases would sort all rows of the provider otherwise.
 */
export function ofProvider(
  { uid, providerUid }: { readonly uid: AnyColumn; readonly providerUid: AnyColumn },
  condition: ScimCondition | undefined,
): SQL | undefined {
  const isIndexed = condition && condition.column !== "isActive" && condition.column !== "updateTime";
  if (isIndexed) return eq(providerUid, textPlaceholder("providerUid"));
  return and(gt(uid, textPlaceholder("from")), lt(uid, textPlaceholder("to")));
}

/** Returns the values of that condition. */
export function rangeOf(providerUid: string): Record<string, string> {
  return { providerUid, ...rangeBelow(providerUid) };
}

/** Returns the condition for a table. `planFilter` makes only conditions whose column the table has. */
export function conditionOf(
  table: { readonly [C in ScimCondition["column"]]?: AnyColumn },
  condition: ScimCondition | undefined,
): SQL | undefined {
  if (!condition) return undefined;
  const column = table[condition.column];
  if (!column) throw new Error(`the table has no column ${condition.column}`);
  const value = sql.param(sql.placeholder("value"), column);
  if (condition.operator === "eq") return sql`${column} = ${value}`;
  if (condition.operator === "gt") return gt(column, numberPlaceholder("value"));
  if (condition.operator === "ge") return gte(column, numberPlaceholder("value"));
  return and(gte(column, textPlaceholder("value")), lt(column, textPlaceholder("end")));
}

/** Returns the values of the condition. */
export function valuesOf(condition: ScimCondition | undefined): Record<string, unknown> {
  if (!condition) return {};
  const { operator, value } = condition;
  // The last code point follows every continuation of the prefix.
  return operator === "sw" ? { value, end: `${value}\u{10ffff}` } : { value };
}
