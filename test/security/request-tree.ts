// Access requests and their rules for the matrices.

import { newChild } from "../../src/model/uid.ts";
import { insertRow } from "../../src/storage/collection/rows.ts";
import { accessRequestCollection, accessRequestRuleCollection } from "../../src/storage/iam/requests/collections.ts";
import type { AccessRequestRow, AccessRequestRuleRow } from "../../src/storage/iam/requests/rows.ts";
import { arrange, ownerRole, type Place, viewerRole } from "./tree.ts";

/** Adds a rule by which viewers request the role owner. */
export function addRequestRule(server: Place, parent: string): Promise<string> {
  const now = server.clock();
  const row: AccessRequestRuleRow = {
    uid: newChild(parent),
    parent,
    name: "rule",
    description: "",
    roleUids: [ownerRole.uid],
    maxDuration: 3_600_000,
    decisionTime: 3_600_000,
    requiredApprovals: 1,
    eligibleRoleUids: [viewerRole.uid],
    eligibleIdentityUids: [],
    approverRoleUids: [],
    approverIdentityUids: [],
    reasonPattern: "",
    breakGlass: false,
    createTime: now,
    updateTime: now,
  };
  return arrange(server, async (tx) => {
    await insertRow(tx, accessRequestRuleCollection, row);
    return row.uid;
  });
}

/** Adds a request that was denied. */
export function addRequest(server: Place, parent: string): Promise<string> {
  const now = server.clock();
  const row: AccessRequestRow = {
    uid: newChild(parent),
    parent,
    ruleUid: newChild(parent),
    identityUid: newChild(parent),
    roleUid: ownerRole.uid,
    duration: 3_600_000,
    reason: "INC-1",
    state: "DENIED",
    decisions: [],
    session: { mappings: [], people: [] },
    decideBeforeTime: now,
    dueTime: null,
    startTime: null,
    expireTime: null,
    roleBindingUid: null,
    ownExpireTime: null,
    breakGlass: false,
    acknowledgeTime: null,
    acknowledgerUid: null,
    acknowledgeComment: null,
    closeTime: now,
    createTime: now,
  };
  return arrange(server, async (tx) => {
    await insertRow(tx, accessRequestCollection, row);
    return row.uid;
  });
}
