// Deletes a group with everything in it, all or nothing.
import { GroupInvitesService } from "../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import type { DestroySubtreeRequest } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { failedPrecondition } from "../../aip/errors.ts";
import { ownerRole } from "../../authz/built-in-roles.ts";
import { callerOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import { findSubtreeRows } from "../../storage/collection/subtree-rows.ts";
import { readCounters } from "../../storage/engine/counters.ts";
import type { Session } from "../../storage/engine/session.ts";
import { groupCollection, groupInviteCollection } from "../../storage/iam/collections.ts";
import type { RoleBindingRow } from "../../storage/iam/rows.ts";
import type { ProviderOptions } from "../iam/providers/identity-providers.ts";
import { newYield } from "./execute.ts";
import { type CallTogether, planFingerprint, requireExpected, type ServicesOf } from "./joined-calls.ts";
import { type Kind, kindOrder } from "./kinds.ts";
import { applyLimits, requireFewChanges } from "./limits.ts";
import { deletion, type Operation } from "./requests.ts";
import { readStoredRows, type StoredRows } from "./stored-rows.ts";
import { changingServices } from "./write-plan.ts";

/** The kinds in a group, in the order of their deletion. Identity providers delete their mappings. */
const deletedKinds = [...kindOrder]
  .reverse()
  .filter(
    (kind): kind is Exclude<Kind, "organization"> => kind !== "organization" && kind !== "externalGroupRoleMapping",
  );

/** Returns the method that deletes a group with everything in it. */
export function subtreeDeletion(options: ProviderOptions, callTogether: CallTogether) {
  const services: ServicesOf = (joined) => changingServices(joined, options);
  return (request: DestroySubtreeRequest, call: Call) =>
    callTogether(services, request, call, async ({ database, callMethod }) => {
      const { session } = database;
      const { groupUid } = request;
      const rows = await readStoredRows(session, groupUid, new Set(kindOrder), call);
      const operations = [...(await inviteDeletions(session, groupUid)), ...deletionsOf(rows, callerOf(call).uid)];
      requireFewChanges(operations.length, groupUid);
      const counts = await countsIn(session, rows);
      const plan = planFingerprint(operations.map((operation) => operation.request));
      requireExpected(request, plan);
      const yieldNow = newYield();
      for (const { method, request: each } of operations) {
        await yieldNow();
        await callMethod(method, each, call);
      }
      return { counts, plan };
    });
}

async function inviteDeletions(session: Session, groupUid: string): Promise<readonly Operation[]> {
  const invites = await findSubtreeRows(session, groupInviteCollection, groupUid, applyLimits.storedResources + 1);
  if (invites.length > applyLimits.storedResources)
    throw failedPrecondition(
      "TOO_MANY_RESOURCES",
      `the group has more than ${applyLimits.storedResources} invites`,
      groupUid,
    );
  return invites.map(({ uid }) => ({ method: GroupInvitesService.method.deleteGroupInvite, request: { uid } }));
}

/** What refers to others comes first, and subgroups come before their parents. */
function deletionsOf(rows: StoredRows, callerUid: string): readonly Operation[] {
  const inGroup = deletedKinds.flatMap((kind) => [...rows[kind]].reverse().map(({ uid }) => ({ kind, uid })));
  const kept = rows.roleBinding.find((binding) => endsWithOrganization(binding, callerUid, rows))?.uid;
  return [
    ...inGroup.filter(({ uid }) => uid !== kept).map(({ kind, uid }) => deletion(kind, uid)),
    { method: GroupsService.method.deleteGroup, request: { uid: rows.base!.uid } },
  ];
}

/** DeleteGroup deletes the owner binding of its caller together with the organization, which must have an owner until then. */
function endsWithOrganization(
  { parent, identityUid, roleUid }: RoleBindingRow,
  callerUid: string,
  { base }: StoredRows,
) {
  return base?.parent === null && parent === base.uid && identityUid === callerUid && roleUid === ownerRole.uid;
}

async function countsIn(session: Session, { base, accountAssociation }: StoredRows): Promise<Record<string, number>> {
  const counts = await readCounters(session, base!.uid);
  const groups = 1 + (counts.get(groupCollection.kind) ?? 0);
  const associations = accountAssociation.length > 0 ? { account_associations: accountAssociation.length } : {};
  return { ...Object.fromEntries(counts), ...associations, groups };
}
