// Sample roles, invites and account associations for the development server.
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { viewerRole } from "../../../authz/built-in-roles.ts";
import { newChild } from "../../../model/uid.ts";
import { newInviteCode } from "../../../services/iam/invites/invite-code.ts";
import { insertRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import {
  accountAssociationCollection,
  groupInviteCollection,
  roleCollection,
} from "../../../storage/iam/collections.ts";

const weekMs = 7 * 24 * 60 * 60 * 1000;

/** Adds a custom role, an invite with an unknown code, and an account association. */
export async function insertSampleAccess(tx: Transaction, groupUid: string): Promise<void> {
  const { time } = tx.context;
  await insertRow(tx, roleCollection, {
    uid: newChild(groupUid),
    parent: groupUid,
    createTime: time,
    updateTime: time,
    name: "catalog reader",
    description: "Sees which images there are",
    capabilities: [Capability.CAP_REPO_LIST, Capability.CAP_TAG_LIST],
  });
  const { keyId, digest: codeDigest } = newInviteCode();
  await insertRow(tx, groupInviteCollection, {
    uid: newChild(groupUid),
    parent: groupUid,
    createTime: time,
    expirationTime: time + weekMs,
    roleUid: viewerRole.uid,
    recipient: "newcomer@example.org",
    singleUse: true,
    keyId,
    codeDigest,
  });
  await insertRow(tx, accountAssociationCollection, {
    uid: groupUid,
    parent: null,
    createTime: time,
    updateTime: time,
    name: "example",
    description: "No account of anybody",
    accounts: { amazon: { account: "000000000000" } },
  });
}
