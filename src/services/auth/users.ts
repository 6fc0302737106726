// People: identities without a group, one for each subject of an issuer, made when somebody signs in for the first time.

import type { TokenRequest } from "../../authn/token-claims.ts";
import { newChild } from "../../model/uid.ts";
import type { Call } from "../../pipeline/call.ts";
import { deleteRow, findRow, insertOrRetry, updateRow } from "../../storage/collection/rows.ts";
import type { Transaction } from "../../storage/engine/session.ts";
import { identityCollection, roleBindingCollection } from "../../storage/iam/collections.ts";
import { deleteMembership, findMemberships } from "../../storage/iam/providers.ts";
import { findBinding } from "../../storage/iam/role-bindings.ts";
import type { IdentityRow } from "../../storage/iam/rows.ts";
import { normalizeIssuer } from "../../sts/claim-match.ts";
import { unbind } from "../iam/identities/identities.ts";
import { accept } from "../iam/users/membership.ts";
import { isPendingUser } from "../iam/users/pending-users.ts";
import { newUserRow } from "../iam/users/user-row.ts";
import { userUid } from "../iam/users/user-uid.ts";

/** Somebody whose login provider has vouched for them. */
export interface Person {
  readonly issuer: string;
  readonly subject: string;
  /** What the provider calls them; empty when it does not. */
  readonly name: string;
  /** What is told of the upstream token: `act`, and the address with what is known of it. */
  readonly claims: Pick<TokenRequest, "act" | "email" | "emailVerified">;
}

/** The identity of a person; undefined before they have registered. */
export async function findUser(
  tx: Transaction,
  { issuer, subject }: Pick<Person, "issuer" | "subject">,
): Promise<IdentityRow | undefined> {
  const row = await findRow(tx, identityCollection, userUid(issuer, subject));
  return row && !isPendingUser(row) ? row : undefined;
}

/** Registers a person, or brings the address of one who is registered up to date. Answers the uid. */
export async function registerUser(tx: Transaction, person: Person): Promise<string> {
  const uid = userUid(person.issuer, person.subject);
  const known = await findRow(tx, identityCollection, uid);
  const addresses = addressesOf(person);
  const { issuer, subject } = person;
  const registered = newUserRow(uid, tx.context.time, { name: nameOf(person), ...addresses, issuer, subject });
  if (!known) await insertOrRetry(tx, identityCollection, registered);
  else if (isPendingUser(known)) {
    await updateRow(tx, identityCollection, known, { ...registered, createTime: known.createTime });
  } else if (known.email !== addresses.email || known.emailUnverified !== addresses.emailUnverified) {
    await updateRow(tx, identityCollection, known, { ...known, ...addresses, updateTime: tx.context.time });
  }
  return uid;
}

/** Gives an identity a role at a group, unless it has it. */
export async function ensureRoleBinding(
  tx: Transaction,
  identityUid: string,
  roleUid: string,
  groupUid: string,
): Promise<void> {
  if (await findBinding(tx, groupUid, roleUid, identityUid)) return;
  const createTime = tx.context.time;
  const binding = { uid: newChild(groupUid), parent: groupUid, identityUid, roleUid, createTime };
  await insertOrRetry(tx, roleBindingCollection, binding);
}

/** Makes somebody known who has not signed in yet, with roles at a group. The operator says that they take part in it. */
export async function preRegisterUser(
  tx: Transaction,
  { issuer, subject }: Pick<Person, "issuer" | "subject">,
  groupUid: string,
  roleUids: readonly string[],
): Promise<void> {
  const uid = userUid(issuer, subject);
  const isKnown = await findUser(tx, { issuer, subject });
  if (!isKnown) await registerUser(tx, { issuer: normalizeIssuer(issuer), subject, name: "", claims: { act: {} } });
  for (const roleUid of roleUids) await ensureRoleBinding(tx, uid, roleUid, groupUid);
  await accept(tx, uid, groupUid);
}

/** Removes a person with all that they hold. Throws LAST_OWNER where an organization would be left without an owner. */
export async function removeUser(tx: Transaction, row: IdentityRow, call: Call): Promise<void> {
  await leaveProviders(tx, row.uid);
  await unbind(tx, row.uid, call);
  await deleteRow(tx, identityCollection, row);
}

/**
 * Who has the default role of a provider to the end is new there when they come back. From whom it was taken away, it stays taken
 * away, lest leaving and coming back undo what the organization has decided.
 */
async function leaveProviders(tx: Transaction, identityUid: string): Promise<void> {
  for (const { providerUid, groupUid, defaultRole } of await findMemberships(tx, identityUid)) {
    if (await findBinding(tx, groupUid, defaultRole, identityUid)) await deleteMembership(tx, providerUid, identityUid);
  }
}

/** An address that nobody has verified is told apart from one that counts. */
function addressesOf({ claims: { email: stated = "", emailVerified } }: Person) {
  // Security case T11: what no database can hold is no address.
  const email = stated.includes("\0") || !stated.isWellFormed() ? "" : stated;
  return emailVerified ? { email, emailUnverified: "" } : { email: "", emailUnverified: email };
}

/** What a person is called, in the letters that names have. */
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
