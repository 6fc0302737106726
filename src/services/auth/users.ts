// Users: identities without a group, one per issuer and subject, created at the first sign-in.

import { permissionDenied } from "../../aip/errors.ts";
import type { TokenRequest } from "../../authn/token-claims.ts";
import { noTerm } from "../../model/grants.ts";
import { newChild } from "../../model/uid.ts";
import type { Call } from "../../pipeline/call.ts";
import { deleteRow, findRow, insertOrRetry, updateRow } from "../../storage/collection/rows.ts";
import type { Transaction } from "../../storage/engine/session.ts";
import { identityCollection, roleBindingCollection } from "../../storage/iam/collections.ts";
import { deleteMembership, findMemberships } from "../../storage/iam/providers.ts";
import { findBinding } from "../../storage/iam/role-bindings.ts";
import type { IdentityRow, RoleBindingRow } from "../../storage/iam/rows.ts";
import { normalizeIssuer } from "../../sts/claim-match.ts";
import { unbind } from "../iam/identities/identities.ts";
import { mayBeUser } from "../iam/role-bindings/role-binding-rules.ts";
import { extendBinding, findCurrentBinding } from "../iam/users/ended-bindings.ts";
import { accept } from "../iam/users/membership.ts";
import { isPendingUser } from "../iam/users/pending-users.ts";
import { newUserRow } from "../iam/users/user-row.ts";
import { userUid } from "../iam/users/user-uid.ts";

/** A person whom a login provider has authenticated. */
export interface Person {
  readonly issuer: string;
  readonly subject: string;
  /** The name that the provider returns; empty if none. */
  readonly name: string;
  /** The inherited claims of the upstream token: `act` and the address. */
  readonly claims: Pick<TokenRequest, "act" | "email" | "emailVerified">;
}

/** Finds the user of a person; undefined if they have not registered. */
export async function findUser(
  tx: Transaction,
  { issuer, subject }: Pick<Person, "issuer" | "subject">,
): Promise<IdentityRow | undefined> {
  const row = await findRow(tx, identityCollection, userUid(issuer, subject));
  return row && !isPendingUser(row) ? row : undefined;
}

/** Registers a person, or updates the address of a registered user. Returns the uid. */
export async function registerUser(tx: Transaction, person: Person): Promise<string> {
  const uid = userUid(person.issuer, person.subject);
  const known = await findRow(tx, identityCollection, uid);
  const addresses = addressesOf(person);
  const { issuer, subject } = person;
  const registered = newUserRow(uid, tx.context.time, { name: nameOf(person), ...addresses, issuer, subject });
  // Security case R6: an imported organization may have any uid, also that of a person who has not registered yet.
  if (!known && !(await mayBeUser(tx, uid)))
    throw permissionDenied("the uid of the person is that of another resource");
  if (!known) await insertOrRetry(tx, identityCollection, registered);
  else if (isPendingUser(known)) {
    await updateRow(tx, identityCollection, known, { ...registered, createTime: known.createTime });
  } else if (known.email !== addresses.email || known.emailUnverified !== addresses.emailUnverified) {
    await updateRow(tx, identityCollection, known, { ...known, ...addresses, updateTime: tx.context.time });
  }
  return uid;
}

/**
 * Binds a role in a group to an identity until a time; null for no end. A binding that begins later or ends earlier gets the longer
 * term.
 */
export async function ensureRoleBinding(
  tx: Transaction,
  identityUid: string,
  roleUid: string,
  groupUid: string,
  expireTime: number | null,
): Promise<void> {
  const known = await findCurrentBinding(tx, groupUid, roleUid, identityUid);
  if (known) return await extendBinding(tx, known, expireTime);
  const [uid, createTime] = [newChild(groupUid), tx.context.time];
  const binding: RoleBindingRow = { uid, parent: groupUid, identityUid, roleUid, createTime, ...noTerm, expireTime };
  await insertOrRetry(tx, roleBindingCollection, binding);
}

/** Registers a user before their first sign-in, with roles in a group. Counts as acceptance of the organization. */
export async function preRegisterUser(
  tx: Transaction,
  { issuer, subject }: Pick<Person, "issuer" | "subject">,
  groupUid: string,
  roleUids: readonly string[],
): Promise<void> {
  const uid = userUid(issuer, subject);
  const isKnown = await findUser(tx, { issuer, subject });
  if (!isKnown) await registerUser(tx, { issuer: normalizeIssuer(issuer), subject, name: "", claims: { act: {} } });
  for (const roleUid of roleUids) await ensureRoleBinding(tx, uid, roleUid, groupUid, null);
  await accept(tx, uid, groupUid);
}

/** Deletes a user and their role bindings. Throws LAST_OWNER if an organization would be left without an owner. */
export async function removeUser(tx: Transaction, row: IdentityRow, call: Call): Promise<void> {
  await leaveProviders(tx, row.uid);
  await unbind(tx, row.uid, call);
  await deleteRow(tx, identityCollection, row);
}

/**
 * Forgets the memberships of a user in providers whose default role they still hold. A role that was taken away stays so, even if
 * the user deletes the account and registers again.
 */
async function leaveProviders(tx: Transaction, identityUid: string): Promise<void> {
  for (const { providerUid, groupUid, defaultRole } of await findMemberships(tx, identityUid)) {
    if (await findBinding(tx, groupUid, defaultRole, identityUid)) await deleteMembership(tx, providerUid, identityUid);
  }
}

/** Returns the verified and the unverified address; one of them is empty. */
function addressesOf({ claims: { email: stated = "", emailVerified } }: Person) {
  // Security case T11: texts that the databases cannot store are ignored.
  const email = stated.includes("\0") || !stated.isWellFormed() ? "" : stated;
  return emailVerified ? { email, emailUnverified: "" } : { email: "", emailUnverified: email };
}

/** Returns a valid resource name for a person. */
function nameOf({ name, claims: { email = "" }, subject }: Person): string {
  const [localPart = ""] = email.split("@");
  const spellings = [name, localPart, subject].map((text) =>
    text
      .toLowerCase()
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      .replace(/[^a-z0-9 ._-]+/g, "-")
      .slice(0, 100),
  );
  return spellings.find((text) => /[a-z0-9]/.test(text)) ?? "person";
}
