// Checks whether a group may be deleted, and deletes the resources that end with it.
import { failedPrecondition } from "../../../aip/errors.ts";
import { ownerRole } from "../../../authz/built-in-roles.ts";
import { rootOf } from "../../../model/uid.ts";
import { deleteRow, findRow } from "../../../storage/collection/rows.ts";
import { readCounters } from "../../../storage/engine/counters.ts";
import { clearExportState } from "../../../storage/engine/export-states.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import {
  accountAssociationCollection,
  roleBindingCollection,
  termsAcceptanceCollection,
} from "../../../storage/iam/collections.ts";
import { findAcceptancesOf } from "../../../storage/iam/providers.ts";
import { accessRequestCollection } from "../../../storage/iam/requests/collections.ts";
import { findRequestsAt } from "../../../storage/iam/requests/queries.ts";
import { accessReviewCollection } from "../../../storage/iam/reviews/collections.ts";
import { findReviewsAt } from "../../../storage/iam/reviews/queries.ts";
import { findBindingsUnder, findEndedUnder } from "../../../storage/iam/role-bindings.ts";
import type { GroupRow, RoleBindingRow } from "../../../storage/iam/rows.ts";
import { repoCollection } from "../../../storage/registry/rows.ts";
import { clearDailyCounts } from "../../../storage/statistics/daily-counts.ts";
import { clearDeletedAdvisories } from "../../../storage/vulnerabilities/advisories.ts";
import { mayHaveAdvisoryRemains } from "../../../storage/vulnerabilities/advisory-remains.ts";
import { clearRecords } from "../../../storage/vulnerabilities/records.ts";
import { deleteEnded } from "../users/ended-bindings.ts";

/** The resources to delete before a group can be deleted. */
export interface Obstacles {
  /** How many resources there are in the group and below it, by kind, without zeros. */
  readonly contents: ReadonlyMap<string, number>;
  /** The caller's own owner binding, the only content of a root group. It ends with the group, so it is not in the contents. */
  readonly ownBinding?: RoleBindingRow | undefined;
}

/** How many role bindings that have ended are deleted with a group; background work deletes more. */
const maxEnded = 1_000;

/** The kinds of resources that end with their group, and keep it from being deleted no more than an empty one. */
const endingKinds = [termsAcceptanceCollection.kind, accessRequestCollection.kind, accessReviewCollection.kind];

/** The contents of a group: the counters of its subtree, and whether it has an account association. */
export interface GroupContents {
  readonly counters: ReadonlyMap<string, number>;
  readonly hasAssociation: boolean;
}

/** Reads what must be deleted before a group. `known` is what has been read of it already. */
export async function readObstacles(
  session: Session,
  uid: string,
  callerUid: string,
  known?: GroupContents,
): Promise<Obstacles> {
  const { counters, hasAssociation } = known ?? (await readContents(session, uid));
  const contents = new Map(counters);
  for (const kind of endingKinds) contents.delete(kind);
  // The association has the uid of the group, so the counters of the children do not include it.
  if (hasAssociation)
    contents.set(accountAssociationCollection.kind, 1 + (contents.get(accountAssociationCollection.kind) ?? 0));
  if (uid === rootOf(uid) && contents.size === 1 && contents.get(roleBindingCollection.kind) === 1) {
    const [binding] = await findBindingsUnder(session, uid, 1);
    if (binding?.identityUid === callerUid && binding.roleUid === ownerRole.uid)
      return { contents: new Map(), ownBinding: binding };
  }
  return { contents };
}

/** The kinds of an organization in which nobody works any more: they hold nothing of their own. */
const frameKinds = ["identity_providers", "external_group_role_mappings", "roles", "groups"];

/** Whether an organization has nothing left but the caller's own owner binding, and what an owner deletes last: providers, roles, groups. */
export async function isEmptied(session: Session, uid: string, callerUid: string): Promise<boolean> {
  const { counters, hasAssociation } = await readContents(session, uid);
  const rest = new Map([...counters].filter(([kind]) => !frameKinds.includes(kind)));
  const { ownBinding } = await readObstacles(session, uid, callerUid, { counters: rest, hasAssociation });
  return ownBinding !== undefined;
}

async function readContents(session: Session, uid: string): Promise<GroupContents> {
  const counters = await readCounters(session, uid);
  return { counters, hasAssociation: Boolean(await findRow(session, accountAssociationCollection, uid)) };
}

/** Throws unless the group is empty. Deletes what ends with it: acceptances, and the caller's own owner binding of a root group. */
export async function emptyOut(tx: Transaction, row: GroupRow, callerUid: string): Promise<void> {
  const { contents, ownBinding } = await readObstacles(tx, row.uid, callerUid, await withoutEnded(tx, row.uid));
  if (contents.size > 0) throw notEmpty(row.uid, [...contents.keys()].sort());
  await deleteAcceptances(tx, row.uid);
  await deleteRequests(tx, row.uid);
  await deleteReviews(tx, row.uid);
  if (ownBinding) await deleteRow(tx, roleBindingCollection, ownBinding);
  await clearDailyCounts(tx, row.uid);
  if (!(await mayHaveAdvisoryRemains(tx, row.uid))) return;
  // The exports of ancestors contain withdrawn records.
  if ((await clearRecords(tx, row.uid)) && row.parent !== null) tx.changeExports(row.parent);
  await clearDeletedAdvisories(tx, row.uid);
  await clearExportState(tx, row.uid);
}

/** Deletes the role bindings of a group that have ended. Returns what is left, whose counters the transaction does not show yet. */
async function withoutEnded(tx: Transaction, groupUid: string): Promise<GroupContents> {
  const ended = await findEndedUnder(tx, groupUid, maxEnded);
  await deleteEnded(tx, ended);
  const { counters, hasAssociation } = await readContents(tx, groupUid);
  const { kind } = roleBindingCollection;
  const left = (counters.get(kind) ?? 0) - ended.length;
  const others = [...counters].filter(([each]) => each !== kind);
  return { counters: new Map(left > 0 ? [...others, [kind, left]] : others), hasAssociation };
}

/** Deletes the acceptances of terms, which end with the group. The change log keeps them. */
async function deleteAcceptances(tx: Transaction, groupUid: string): Promise<void> {
  for (const row of await findAcceptancesOf(tx, groupUid)) await deleteRow(tx, termsAcceptanceCollection, row);
}

/** Deletes the access requests at a group, none of which gives a role any more. The change log keeps them. */
async function deleteRequests(tx: Transaction, groupUid: string): Promise<void> {
  for (const row of await findRequestsAt(tx, groupUid)) await deleteRow(tx, accessRequestCollection, row);
}

/** Deletes the access reviews at a group, with their items. The change log keeps the decisions. */
async function deleteReviews(tx: Transaction, groupUid: string): Promise<void> {
  for (const row of await findReviewsAt(tx, groupUid)) await deleteRow(tx, accessReviewCollection, row);
}

/** Returns the error of a delete of a group that contains resources of these kinds. */
export function notEmpty(uid: string, kinds: readonly string[]) {
  // The specification fixes this text for repos, also if the group contains other resources. Tags are not children of the group.
  const named = kinds.includes(repoCollection.kind) ? [repoCollection.kind] : kinds;
  const names = named.map((kind) => kind.replaceAll("_", " ")).join(", ");
  return failedPrecondition("RESOURCE_NOT_EMPTY", `cannot delete group with child ${names}`, uid);
}
