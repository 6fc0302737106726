// Creates the first organization and its owner, for `gatehouse bootstrap` and the development server.
import { create } from "@bufbuild/protobuf";
import { Identity_ClaimMatchSchema } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { type BuiltInRole, operatorRole, ownerRole } from "../../authz/built-in-roles.ts";
import { noTerm } from "../../model/grants.ts";
import { newChild } from "../../model/uid.ts";
import { insertRow } from "../../storage/collection/rows.ts";
import { readCounter } from "../../storage/engine/counters.ts";
import type { Session, Transaction } from "../../storage/engine/session.ts";
import { groupCollection, identityCollection, roleBindingCollection } from "../../storage/iam/collections.ts";
import type { GroupRow, IdentityRow } from "../../storage/iam/rows.ts";
import { childrenKey } from "../../storage/schema/entry-keys.ts";
import { toColumns } from "./identities/relationships.ts";

/** The uids of a new organization. */
export interface Organization {
  readonly groupUid: string;
  readonly ownerUid: string;
}

/**
 * Blocks the creation of organizations by others until the transaction ends. Call it before `hasOrganization` decides whether to
 * create one.
 */
export async function lockOrganizations(tx: Transaction): Promise<void> {
  await tx.lockTables([tx.tables.groups]);
}

/** Whether the database has any organization. */
export async function hasOrganization(session: Session): Promise<boolean> {
  return (await readCounter(session, childrenKey(null), groupCollection.kind)) > 0;
}

/** Creates an organization and an identity in it that owns it; with the roles of owner and operator unless others are named. */
export async function createOrganization(
  tx: Transaction,
  name: string,
  owner: { readonly issuer: string; readonly subject: string },
  roles: readonly BuiltInRole[] = [ownerRole, operatorRole],
): Promise<Organization> {
  const { uid: groupUid } = await createGroup(tx, null, name, "");
  const ownerUid = newChild(groupUid);
  const claimMatch = create(Identity_ClaimMatchSchema, {
    iss: { case: "issuer", value: owner.issuer },
    sub: { case: "subject", value: owner.subject },
  });
  const identity: IdentityRow = {
    ...stamps(tx, ownerUid, groupUid),
    name: "owner",
    description: "The first owner",
    email: "",
    emailUnverified: "",
    company: "",
    ...toColumns({ case: "claimMatch", value: claimMatch }),
    metadata: {},
    lastSeenTime: tx.context.time,
    trust: null,
  };
  await insertRow(tx, identityCollection, identity);
  for (const role of roles) {
    const binding = {
      uid: newChild(groupUid),
      parent: groupUid,
      identityUid: ownerUid,
      roleUid: role.uid,
      createTime: tx.context.time,
      ...noTerm,
    };
    await insertRow(tx, roleBindingCollection, binding);
  }
  return { groupUid, ownerUid };
}

/** Creates a group without checking permissions. */
export async function createGroup(
  tx: Transaction,
  parent: string | null,
  name: string,
  description: string,
): Promise<GroupRow> {
  const row: GroupRow = {
    ...stamps(tx, newChild(parent ?? ""), parent),
    name,
    description,
    resourceLimits: {},
    verified: false,
    kind: 0,
    status: 0,
  };
  await insertRow(tx, groupCollection, row);
  return row;
}

function stamps(tx: Transaction, uid: string, parent: string | null) {
  return { uid, parent, createTime: tx.context.time, updateTime: tx.context.time };
}
