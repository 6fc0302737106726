// Deletes a group with everything in it, all or nothing.
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import type { DestroySubtreeRequest } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { failedPrecondition } from "../../aip/errors.ts";
import { nextSlice } from "../../base/slices.ts";
import { newYield, type Yield } from "../../base/yielding.ts";
import { depthOf } from "../../model/uid.ts";
import { callerOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ResourceRow } from "../../storage/collection/collection.ts";
import { findSubtreeRows } from "../../storage/collection/subtree-rows.ts";
import { readCounters } from "../../storage/engine/counters.ts";
import type { Session } from "../../storage/engine/session.ts";
import { groupCollection } from "../../storage/iam/collections.ts";
import type { KindContext } from "../kinds/kind-options.ts";
import type { KindName, StoredRows } from "../kinds/spec.ts";
import { deletedWithGroup, resources } from "../resources.ts";
import { attemptTogether, runAll, runsOf } from "./concurrent-runs.ts";
import {
  type AtVersion,
  type CallTogether,
  planFingerprint,
  requireExpected,
  type ServicesOf,
  versionOf,
} from "./joined-calls.ts";
import { kindOrder } from "./kinds.ts";
import { applyLimits, requireFewChanges } from "./limits.ts";
import { deletion, type Operation } from "./requests.ts";
import { readStoredRows } from "./stored-rows.ts";
import { changingServices } from "./write-plan.ts";

/** The kinds in a group, in the order of their deletion: what refers to others comes first. */
const deletedKinds = [...resources]
  .reverse()
  .filter(
    ({ name, file }) => name !== "organization" && file.deletedWith === undefined && file.deletedAfter === undefined,
  )
  .flatMap((kind) => [kind, ...resources.filter(({ file }) => file.deletedAfter === kind.name)]);

/** The deletion of a resource. */
interface SubtreeOperation extends Operation {
  readonly request: { readonly uid: string };
  /** The kind of the resource, if its deletions may run at the same time. */
  readonly kind?: KindName | undefined;
}

/** The plan of a deletion, in the order of its execution. */
interface Deletion extends AtVersion {
  readonly operations: readonly SubtreeOperation[];
  readonly counts: Record<string, number>;
  readonly plan: string;
}

/** Returns the method that deletes a group with everything in it. */
export function subtreeDeletion({ database, ...context }: KindContext, callTogether: CallTogether) {
  const services: ServicesOf = (joined) => changingServices({ ...context, ...joined });
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
    return await attemptTogether(database.session, attempt);
  };
}

/** Equal for deletions that may run at the same time; empty for one that runs alone. A group is empty once its subgroups are deleted. */
function concurrencyOf({ kind, request }: SubtreeOperation): string {
  return kind === "group" ? `group ${depthOf(request.uid)}` : (kind ?? "");
}

/** Reads the contents of a group. Throws TOO_MANY_RESOURCES if they are too many to delete at once. */
async function planDeletion(session: Session, groupUid: string, call: Call, pause: Yield): Promise<Deletion> {
  const version = await versionOf(session, groupUid);
  const rows = await readStoredRows(session, groupUid, new Set(kindOrder), call, pause);
  const others = await otherDeletions(session, groupUid, pause);
  const operations = [...others, ...deletionsOf(rows, callerOf(call).uid)];
  requireFewChanges(operations.length, groupUid);
  const plan = planFingerprint(operations.map((operation) => operation.request));
  return { version, operations, counts: await countsIn(session, rows), plan };
}

/** Returns the deletions of resources that no file can have. */
async function otherDeletions(session: Session, groupUid: string, pause: Yield): Promise<readonly SubtreeOperation[]> {
  const found: SubtreeOperation[] = [];
  const limit = applyLimits.storedResources;
  for (const { deletedWithGroup: noun, collection, methods } of deletedWithGroup) {
    if (noun === undefined || !methods.delete) continue;
    const { delete: method } = methods;
    const rows = await findSubtreeRows(session, collection, groupUid, limit + 1, pause);
    if (rows.length > limit)
      throw failedPrecondition("TOO_MANY_RESOURCES", `the group has more than ${limit} ${noun}`, groupUid);
    found.push(...rows.map(({ uid }) => ({ method, request: { uid } })));
  }
  return found;
}

/** Referring resources come before those that they refer to, and subgroups before their parents. */
function deletionsOf({ base, byKind }: StoredRows, callerUid: string): readonly SubtreeOperation[] {
  const organization = base?.parent === null ? base : undefined;
  const inGroup = deletedKinds.flatMap(({ name, file }) => {
    const rows = byKind.get(name) ?? [];
    const isKept = (row: ResourceRow) => organization && file.goesWithOrganization?.(row, organization, callerUid);
    const kept = rows.find(isKept);
    return rows
      .filter((row) => row !== kept)
      .sort((a, b) => depthOf(b.uid) - depthOf(a.uid))
      .map(({ uid }) => ({
        ...deletion(name, uid),
        request: { uid },
        kind: file.isDeletedAlongside ? name : undefined,
      }));
  });
  return [...inGroup, { method: GroupsService.method.deleteGroup, request: { uid: base!.uid } }];
}

async function countsIn(session: Session, { base, byKind }: StoredRows): Promise<Record<string, number>> {
  const counts = new Map(await readCounters(session, base!.uid));
  counts.set(groupCollection.kind, 1 + (counts.get(groupCollection.kind) ?? 0));
  // The own resource of the group is not counted with those below it.
  for (const { name, file, collection } of resources) {
    const rows = byKind.get(name) ?? [];
    if (file.hasUidOfGroup && rows.length > 0) counts.set(collection.kind, rows.length);
  }
  return Object.fromEntries(counts);
}
