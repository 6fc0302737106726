// Reads the stored resources of a group.
import { GroupSchema } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { failedPrecondition, notFound } from "../../aip/errors.ts";
import { resourceType } from "../../aip/resource-type.ts";
import type { Yield } from "../../base/yielding.ts";
import { ancestorsOf } from "../../model/uid.ts";
import { accessOf, requireCapability } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Collection, ResourceRow } from "../../storage/collection/collection.ts";
import { findRow } from "../../storage/collection/rows.ts";
import { findSubtreeRows } from "../../storage/collection/subtree-rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { type SubscriptionRow, subscriptionCollection } from "../../storage/events/rows.ts";
import {
  accountAssociationCollection,
  externalGroupRoleMappingCollection,
  groupCollection,
  identityCollection,
  identityProviderCollection,
  roleBindingCollection,
  roleCollection,
} from "../../storage/iam/collections.ts";
import type { ExternalGroupRoleMappingRow, IdentityProviderRow } from "../../storage/iam/provider-rows.ts";
import { findRolesIn } from "../../storage/iam/roles-of-group.ts";
import type { AccountAssociationRow, GroupRow, IdentityRow, RoleBindingRow, RoleRow } from "../../storage/iam/rows.ts";
import { type RepoRow, repoCollection } from "../../storage/registry/rows.ts";
import { type Kind, kinds } from "./kinds.ts";
import { applyLimits } from "./limits.ts";

/** The stored resources of a group and its subgroups. Kinds that are not needed are empty. */
export interface StoredRows {
  /** The group itself; undefined for an organization that does not exist yet. */
  readonly base: GroupRow | undefined;
  readonly group: readonly GroupRow[];
  readonly role: readonly RoleRow[];
  readonly identity: readonly IdentityRow[];
  readonly identityProvider: readonly IdentityProviderRow[];
  readonly externalGroupRoleMapping: readonly ExternalGroupRoleMappingRow[];
  readonly accountAssociation: readonly AccountAssociationRow[];
  readonly repo: readonly RepoRow[];
  readonly roleBinding: readonly RoleBindingRow[];
  readonly subscription: readonly SubscriptionRow[];
  /** The roles of the ancestors of the group that the caller may list, the nearest first. */
  readonly outerRoles: readonly RoleRow[];
}

/** No resources: what an organization has that does not exist. */
export const noRows: StoredRows = {
  base: undefined,
  ...{ group: [], role: [], identity: [], identityProvider: [], externalGroupRoleMapping: [] },
  ...{ accountAssociation: [], repo: [], roleBinding: [], subscription: [], outerRoles: [] },
};

/** Reads the resources of these kinds. Throws unless the caller may list them in the whole group. */
export async function readStoredRows(
  session: Session,
  baseUid: string,
  wanted: ReadonlySet<Kind>,
  call: Call,
  pause?: Yield,
): Promise<StoredRows> {
  // AIP-211: permission comes before existence.
  requireCapability(call, kinds.group.list, baseUid);
  for (const kind of wanted) requireCapability(call, kinds[kind].list, baseUid);
  const base = await findRow(session, groupCollection, baseUid);
  if (!base) throw notFound(resourceType(GroupSchema), baseUid);

  async function read<R extends ResourceRow>(kind: Kind, collection: Collection<R>): Promise<readonly R[]> {
    if (!wanted.has(kind) && kind !== "group") return [];
    const rows = await findSubtreeRows(session, collection, baseUid, applyLimits.storedResources + 1, pause);
    if (rows.length <= applyLimits.storedResources) return rows;
    throw failedPrecondition(
      "TOO_MANY_RESOURCES",
      `the group has more than ${applyLimits.storedResources} resources of the kind ${kinds[kind].field}; apply to a subgroup`,
      baseUid,
    );
  }

  return {
    base,
    group: await read("group", groupCollection),
    role: await read("role", roleCollection),
    identity: await read("identity", identityCollection),
    identityProvider: await read("identityProvider", identityProviderCollection),
    externalGroupRoleMapping: await read("externalGroupRoleMapping", externalGroupRoleMappingCollection),
    accountAssociation: await readAssociations(session, baseUid, wanted, read),
    repo: await read("repo", repoCollection),
    roleBinding: await read("roleBinding", roleBindingCollection),
    subscription: await read("subscription", subscriptionCollection),
    outerRoles: wanted.has("role") ? await readOuterRoles(session, baseUid, call) : [],
  };
}

/** An association has the uid of its group. The association of the group itself is not among the descendants. */
async function readAssociations(
  session: Session,
  baseUid: string,
  wanted: ReadonlySet<Kind>,
  read: (kind: Kind, collection: Collection<AccountAssociationRow>) => Promise<readonly AccountAssociationRow[]>,
): Promise<readonly AccountAssociationRow[]> {
  if (!wanted.has("accountAssociation")) return [];
  const own = await findRow(session, accountAssociationCollection, baseUid);
  const others = await read("accountAssociation", accountAssociationCollection);
  return own ? [own, ...others] : others;
}

async function readOuterRoles(session: Session, baseUid: string, call: Call): Promise<readonly RoleRow[]> {
  const access = accessOf(call);
  const visible = ancestorsOf(baseUid).filter((uid) => access.has(kinds.role.list, uid));
  const found: RoleRow[] = [];
  for (const uid of visible.reverse()) found.push(...(await findRolesIn(session, uid, applyLimits.storedResources)));
  return found;
}
