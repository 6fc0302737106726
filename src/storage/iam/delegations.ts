// Delegations: which identity vouches for a row that grants access to others later, and for which capabilities
// (docs/decisions/0035).

import { limitOf, rowPlaceholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, eq, gt, gte, lt, or, sql } from "../schema/drizzle.ts";

/** The kinds of rows that can grant access: the collections, and the SCIM token of an identity provider. */
export type DelegationKind =
  | "group_invites"
  | "subscriptions"
  | "identity_providers"
  | "scim_tokens"
  | "external_group_role_mappings"
  | "identities"
  | "access_request_rules"
  | "access_reviews";

/** A delegation: its maker, and the row that grants access. */
export interface Delegation {
  /** The uid of the row that grants access, such as an invite. */
  readonly uid: string;
  readonly kind: DelegationKind;
  /** Null if the maker is unknown, or was deleted. */
  readonly makerUid: string | null;
  /** Whether the installation itself vouches. */
  readonly isInstallation: boolean;
  /** The delegated capabilities: numbers of the Capability enum. */
  readonly capabilities: readonly number[];
  /** The external group mappings of the maker's session. */
  readonly mappings: readonly string[];
  /** When the maker vouched, in milliseconds since the epoch; 0 if unknown. */
  readonly time: number;
}

const columns = ["uid", "kind", "makerUid", "isInstallation", "capabilities", "mappings", "time"] as const;

/** Makes the actor of the transaction the maker, in place of the former one. */
export async function vouch(
  tx: Transaction,
  kind: DelegationKind,
  uid: string,
  capabilities: readonly number[],
): Promise<void> {
  const statement = tx.prepared("delegations.set", (db, { delegations }) =>
    db
      .insert(delegations)
      .values(rowPlaceholders(columns))
      .onConflictDoUpdate({
        target: [delegations.uid, delegations.kind],
        set: Object.fromEntries(columns.slice(2).map((column) => [column, sql.raw(`excluded.${snakeCase(column)}`)])),
      }),
  );
  const { actor, actorMappings: mappings = [], time } = tx.context;
  const makerUid = (await isIdentity(tx, actor)) ? actor : null;
  await statement.execute({ uid, kind, makerUid, isInstallation: actor === "", capabilities, mappings, time });
}

/** Deletes the delegations of a deleted row; only those of one kind if given. */
export async function forgetVouchers(tx: Transaction, uid: string, kind?: DelegationKind): Promise<void> {
  const statement = tx.prepared(`delegations.delete.${kind ?? "all"}`, (db, { delegations }) =>
    db
      .delete(delegations)
      .where(and(eq(delegations.uid, sql.placeholder("uid")), kind && eq(delegations.kind, sql.placeholder("kind")))),
  );
  await statement.execute({ uid, ...(kind && { kind }) });
}

/** Returns the delegation of a row, or undefined if it never had one. */
export async function findDelegation(
  session: Session,
  kind: DelegationKind,
  uid: string,
): Promise<Delegation | undefined> {
  const statement = session.prepared("delegations.get", (db, { delegations }) =>
    db
      .select()
      .from(delegations)
      .where(and(eq(delegations.uid, sql.placeholder("uid")), eq(delegations.kind, sql.placeholder("kind")))),
  );
  return (await statement.execute({ uid, kind }))[0] as Delegation | undefined;
}

/** Returns the delegations of a uid, of all kinds. */
export async function findDelegationsOf(session: Session, uid: string): Promise<Delegation[]> {
  const statement = session.prepared("delegations.of", (db, { delegations }) =>
    db
      .select()
      .from(delegations)
      .where(eq(delegations.uid, textPlaceholder("uid")))
      .orderBy(asc(delegations.kind)),
  );
  return (await statement.execute({ uid })) as Delegation[];
}

/** The delegations to find. */
interface DelegationRange {
  readonly range: { readonly from: string; readonly to: string };
  /** The delegation before the first one. */
  readonly after?: Pick<Delegation, "uid" | "kind"> | undefined;
  /** The identity that made them; empty for all. */
  readonly makerUid?: string;
  readonly limit: number;
}

/** Returns delegations in a range of uids, ordered by uid and kind. */
export async function findDelegationsIn(
  session: Session,
  { range, after, makerUid = "", limit }: DelegationRange,
): Promise<Delegation[]> {
  const isByMaker = makerUid !== "";
  const name = isByMaker ? "delegations.by_maker_in" : "delegations.in";
  const statement = session.prepared(name, (db, { delegations: { uid, kind }, delegations }) =>
    db
      .select()
      .from(delegations)
      .where(
        and(
          isByMaker ? eq(delegations.makerUid, textPlaceholder("makerUid")) : undefined,
          gte(uid, sql.placeholder("from")),
          lt(uid, sql.placeholder("to")),
          or(gt(uid, sql.placeholder("uid")), and(eq(uid, sql.placeholder("uid")), gt(kind, sql.placeholder("kind")))),
        ),
      )
      .orderBy(asc(uid), asc(kind))
      .limit(limitOf("limit")),
  );
  const { uid = "", kind = "" } = after ?? {};
  // Starts at the later of the two to read nothing before the cursor.
  const from = uid > range.from ? uid : range.from;
  const values = { from, to: range.to, uid, kind, limit };
  return (await statement.execute({ ...values, ...(isByMaker && { makerUid }) })) as Delegation[];
}

/** Returns the delegations of a maker that depend on mappings of a provider. */
export async function findDelegationsByMapping(session: Session, makerUid: string, providerUid: string) {
  const statement = session.prepared("delegations.by_maker", (db, { delegations }) =>
    db
      .select()
      .from(delegations)
      .where(eq(delegations.makerUid, textPlaceholder("makerUid"))),
  );
  const found = (await statement.execute({ makerUid })) as Delegation[];
  return found.filter(({ mappings }) => mappings.some((uid) => uid.startsWith(`${providerUid}/`)));
}

/** Replaces the mappings of a delegation, unless it has another maker by now. */
export async function setDelegationMappings(
  tx: Transaction,
  { uid, kind, makerUid }: Delegation,
  mappings: readonly string[],
): Promise<void> {
  const statement = tx.prepared("delegations.set_mappings", (db, { delegations }) =>
    db
      .update(delegations)
      .set({ mappings: sql`${sql.param(sql.placeholder("mappings"), delegations.mappings)}` })
      .where(
        and(
          eq(delegations.uid, sql.placeholder("uid")),
          eq(delegations.kind, sql.placeholder("kind")),
          eq(delegations.makerUid, textPlaceholder("makerUid")),
        ),
      ),
  );
  await statement.execute({ uid, kind, makerUid, mappings });
  tx.changeAccess();
}

/** Returns the capabilities of a role; none if it does not exist. */
export async function findRoleCapabilities(session: Session, roleUid: string): Promise<readonly number[]> {
  const statement = session.prepared("roles.capabilities", (db, { roles }) =>
    db
      .select({ capabilities: roles.capabilities })
      .from(roles)
      .where(eq(roles.uid, sql.placeholder("roleUid"))),
  );
  return (await statement.execute({ roleUid }))[0]?.capabilities ?? [];
}

async function isIdentity(session: Session, uid: string): Promise<boolean> {
  const statement = session.prepared("identities.is", (db, { identities }) =>
    db
      .select({ uid: identities.uid })
      .from(identities)
      .where(eq(identities.uid, sql.placeholder("uid"))),
  );
  return uid !== "" && (await statement.execute({ uid })).length > 0;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
