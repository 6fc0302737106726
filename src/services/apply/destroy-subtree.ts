// Deletes a group with everything in it, all or nothing.
import { GroupInvitesService } from "../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import type { DestroySubtreeRequest } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { failedPrecondition } from "../../aip/errors.ts";
import { ownerRole } from "../../authz/built-in-roles.ts";
import { nextSlice } from "../../base/slices.ts";
import { newYield, type Yield } from "../../base/yielding.ts";
import { depthOf } from "../../model/uid.ts";
import { callerOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { findSubtreeRows } from "../../storage/collection/subtree-rows.ts";
import { readCounters } from "../../storage/engine/counters.ts";
import type { Session } from "../../storage/engine/session.ts";
import { groupCollection, groupInviteCollection } from "../../storage/iam/collections.ts";
import type { RoleBindingRow } from "../../storage/iam/rows.ts";
import type { ProviderOptions } from "../iam/identity-providers/identity-providers.ts";
import { attemptTogether, runAll, runsOf } from "./concurrent-runs.ts";
import {
  type AtVersion,
  type CallTogether,
  planFingerprint,
  requireExpected,
  type ServicesOf,
  versionOf,
} from "./joined-calls.ts";
import { type Kind, kindOrder } from "./kinds.ts";
import { applyLimits, requireFewChanges } from "./limits.ts";
import { deletion, type Operation } from "./requests.ts";
import { readStoredRows, type StoredRows } from "./stored-rows.ts";
import { changingServices } from "./write-plan.ts";

type DeletedKind = Exclude<Kind, "organization" | "externalGroupRoleMapping">;

/**
 * The kinds in a group, in the order of their deletion. Identity providers delete their mappings, and come last except for their default
 * roles and the groups: the last owner may sign in by one.
 */
const deletedKinds = [...kindOrder].reverse().flatMap((kind): DeletedKind[] => {
  if (kind === "identity") return ["identity", "identityProvider"];
  return kind === "organization" || kind === "externalGroupRoleMapping" || kind === "identityProvider" ? [] : [kind];
});

/** The kinds whose deletions need nothing of each other. A deletion of a role binding depends on who else is an owner. */
const concurrentKinds: ReadonlySet<Kind> = new Set(["group", "role", "repo"]);

/** The deletion of a resource. */
interface SubtreeOperation extends Operation {
  readonly request: { readonly uid: string };
  /** The kind of the resource, if its deletions may run at the same time. */
  readonly kind?: Kind;
}

/** What a deletion does, in this order. */
interface Deletion extends AtVersion {
  readonly operations: readonly SubtreeOperation[];
  readonly counts: Record<string, number>;
  readonly plan: string;
}

/** Returns the method that deletes a group with everything in it. */
export function subtreeDeletion({ database }: ServiceContext, options: ProviderOptions, callTogether: CallTogether) {
  const services: ServicesOf = (joined) => changingServices(joined, options);
  return async (request: DestroySubtreeRequest, call: Call) => {
    const { groupUid } = request;
    const seen = await database.read((session) => planDeletion(session, groupUid, call, nextSlice));
    requireExpected(request, seen.plan);
    const changes = seen.operations.length;
    const attempt = (isConcurrent: boolean) =>
      callTogether(services, { request, changes }, call, async ({ database: joined, callMethod }) => {
        const pause = newYield();
        const isCurrent = (await versionOf(joined.session, groupUid)) === seen.version;
        const planned = isCurrent ? seen : await planDeletion(joined.session, groupUid, call, pause);
        const { operations, counts, plan } = planned;
        requireExpected(request, plan);
        for (const some of runsOf(operations, isConcurrent ? concurrencyOf : () => ""))
          await runAll(joined, some, async ({ method, request: each }) => {
            await pause();
            await callMethod(method, each, call);
          });
        return { counts, plan };
      });
    return await attemptTogether(database.dialect, attempt);
  };
}

/** Equal for deletions that may run at the same time; empty for one that runs alone. A group is empty once its subgroups are deleted. */
function concurrencyOf({ kind, request }: SubtreeOperation): string {
  return kind === "group" ? `group ${depthOf(request.uid)}` : (kind ?? "");
}

/** Reads what is in a group. Throws TOO_MANY_RESOURCES if that is too much to delete at once. */
async function planDeletion(session: Session, groupUid: string, call: Call, pause: Yield): Promise<Deletion> {
  const version = await versionOf(session, groupUid);
  const rows = await readStoredRows(session, groupUid, new Set(kindOrder), call, pause);
  const invites = await inviteDeletions(session, groupUid, pause);
  const operations = [...invites, ...deletionsOf(rows, callerOf(call).uid)];
  requireFewChanges(operations.length, groupUid);
  const plan = planFingerprint(operations.map((operation) => operation.request));
  return { version, operations, counts: await countsIn(session, rows), plan };
}

async function inviteDeletions(session: Session, groupUid: string, pause: Yield): Promise<readonly SubtreeOperation[]> {
  const invites = await findSubtreeRows(
    session,
    groupInviteCollection,
    groupUid,
    applyLimits.storedResources + 1,
    pause,
  );
  if (invites.length > applyLimits.storedResources)
    throw failedPrecondition(
      "TOO_MANY_RESOURCES",
      `the group has more than ${applyLimits.storedResources} invites`,
      groupUid,
    );
  return invites.map(({ uid }) => ({ method: GroupInvitesService.method.deleteGroupInvite, request: { uid } }));
}

/** What refers to others comes first, and subgroups come before their parents. */
function deletionsOf(rows: StoredRows, callerUid: string): readonly SubtreeOperation[] {
  const inGroup = deletedKinds.flatMap((kind) =>
    [...rows[kind]].sort((a, b) => depthOf(b.uid) - depthOf(a.uid)).map(({ uid }) => ({ kind, uid })),
  );
  const kept = rows.roleBinding.find((binding) => endsWithOrganization(binding, callerUid, rows))?.uid;
  return [
    ...inGroup
      .filter(({ uid }) => uid !== kept)
      .map(({ kind, uid }) => ({
        ...deletion(kind, uid),
        request: { uid },
        ...(concurrentKinds.has(kind) && { kind }),
      })),
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
