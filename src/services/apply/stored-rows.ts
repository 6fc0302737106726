// Reads the stored resources of a group.
import { GroupSchema } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { failedPrecondition, notFound } from "../../aip/errors.ts";
import { resourceType } from "../../aip/resource-type.ts";
import type { Yield } from "../../base/yielding.ts";
import { requireCapability } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ResourceRow } from "../../storage/collection/collection.ts";
import { findRow } from "../../storage/collection/rows.ts";
import { findSubtreeRows } from "../../storage/collection/subtree-rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { groupCollection } from "../../storage/iam/collections.ts";
import type { Kind } from "../kinds/kind.ts";
import { readOuterRoles } from "../kinds/outer-roles.ts";
import type { KindName, StoredRows } from "../kinds/spec.ts";
import { resources } from "../resources.ts";
import { kindNamed } from "./kinds.ts";
import { applyLimits } from "./limits.ts";

/** The rows of an organization that does not exist: none. */
export const noRows: StoredRows = { base: undefined, byKind: new Map(), outerRoles: [] };

/** Reads the resources of these kinds. Throws unless the caller may list them in the whole group. */
export async function readStoredRows(
  session: Session,
  baseUid: string,
  wanted: ReadonlySet<KindName>,
  call: Call,
  pause?: Yield,
): Promise<StoredRows> {
  // AIP-211: permission comes before existence.
  const listCapability = (name: KindName) => kindNamed(name).listCapability;
  requireCapability(call, listCapability("group"), baseUid);
  for (const name of wanted) requireCapability(call, listCapability(name), baseUid);
  const base = await findRow(session, groupCollection, baseUid);
  if (!base) throw notFound(resourceType(GroupSchema), baseUid);
  const limit = applyLimits.storedResources;
  const byKind = new Map<KindName, readonly ResourceRow[]>();
  for (const kind of resources) {
    const isRead = kind.name !== "organization" && (wanted.has(kind.name) || kind.name === "group");
    if (isRead) byKind.set(kind.name, await readKind(session, baseUid, kind, pause));
  }
  return { base, byKind, outerRoles: await readOuterRoles(session, baseUid, wanted, { call, limit }) };
}

async function readKind(
  session: Session,
  baseUid: string,
  { collection, field, file }: Kind,
  pause: Yield | undefined,
): Promise<readonly ResourceRow[]> {
  const rows = await findSubtreeRows(session, collection, baseUid, applyLimits.storedResources + 1, pause);
  if (rows.length > applyLimits.storedResources)
    throw failedPrecondition(
      "TOO_MANY_RESOURCES",
      `the group has more than ${applyLimits.storedResources} resources of the kind ${field}; apply to a subgroup`,
      baseUid,
    );
  // A row with the uid of its group is not among the descendants of that group.
  const own = file.hasUidOfGroup && (await findRow(session, collection, baseUid));
  return own ? [own, ...rows] : rows;
}
