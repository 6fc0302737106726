// Converts stored resources to the messages of an apply, which name other resources instead of their uids.
import { create } from "@bufbuild/protobuf";
import type { CatalogTier } from "../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import {
  AccountAssociationSpecSchema,
  ExternalGroupRoleMappingSpecSchema,
  GroupSpecSchema,
  IdentityProviderSpecSchema,
  IdentitySpecSchema,
  OrganizationSpecSchema,
  RepoSpecSchema,
  RoleBindingSpecSchema,
  RoleSpecSchema,
  SubscriptionSpecSchema,
} from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import type { Yield } from "../../base/yielding.ts";
import { namesOfNumbers } from "../../model/capabilities.ts";
import { parentOf } from "../../model/uid.ts";
import type { AccountAssociationRow, GroupRow, IdentityRow, RoleBindingRow, RoleRow } from "../../storage/iam/rows.ts";
import type { RepoRow } from "../../storage/registry/rows.ts";
import { associationMessage } from "../iam/account-associations/account-associations.ts";
import { fromColumns } from "../iam/identities/relationships.ts";
import { providerMessage } from "../iam/identity-providers/identity-providers.ts";
import type { AnyResource } from "./kinds.ts";
import { type Names, parentPath } from "./names.ts";
import type { StoredRows } from "./stored-rows.ts";

/** A stored resource. */
export interface StoredResource {
  readonly uid: string;
  readonly resource: AnyResource;
}

/** Returns the stored resources, in the order of creation. Calls `pause` for each of them. */
export async function storedResources(
  rows: StoredRows,
  names: Names,
  pause: Yield = () => undefined,
): Promise<readonly StoredResource[]> {
  const { base } = rows;
  if (!base) return [];
  const found: StoredResource[] = [];
  const groupOf = ({ uid }: { readonly uid: string }) => names.pathOf(parentOf(uid));
  async function add<R extends { readonly uid: string }>(some: readonly R[], convert: (row: R) => AnyResource) {
    for (const row of some) {
      found.push({ uid: row.uid, resource: convert(row) });
      const paused = pause();
      if (paused) await paused;
    }
  }
  if (base.parent === null) await add([base], organizationOf);
  await add(rows.group, (row) => groupOfRow(row, groupOf(row)));
  await add(rows.role, (row) => roleOf(row, groupOf(row)));
  await add(rows.identity, (row) => identityOf(row, groupOf(row)));
  await add(rows.identityProvider, (row) => providerOf(row, names));
  await add(rows.externalGroupRoleMapping, (row) => mappingOf(row, names));
  await add(rows.accountAssociation, (row) => associationOf(row, names));
  await add(rows.repo, (row) => repoOf(row, groupOf(row)));
  await add(rows.roleBinding, (row) => bindingOf(row, names));
  await add(rows.subscription, (row) => subscriptionOf(row, groupOf(row)));
  return found;
}

function organizationOf({ name, description }: GroupRow): AnyResource {
  return { case: "organization", value: create(OrganizationSpecSchema, { name, description }) };
}

function subscriptionOf({ sink }: StoredRows["subscription"][number], group: string): AnyResource {
  return { case: "subscription", value: create(SubscriptionSpecSchema, { group, sink }) };
}

function groupOfRow({ name, description }: GroupRow, group: string): AnyResource {
  return { case: "group", value: create(GroupSpecSchema, { group, name, description }) };
}

function roleOf({ name, description, capabilities }: RoleRow, group: string): AnyResource {
  const value = create(RoleSpecSchema, { group, name, description, capabilities: namesOfNumbers(capabilities).sort() });
  return { case: "role", value };
}

function identityOf({ name, description, company, relationship }: IdentityRow, group: string): AnyResource {
  const value = create(IdentitySpecSchema, { group, name, description, company });
  return { case: "identity", value: { ...value, relationship: fromColumns(relationship) } };
}

function providerOf(row: StoredRows["identityProvider"][number], names: Names): AnyResource {
  const { name, description, defaultRole, configuration } = providerMessage(row);
  const value = create(IdentityProviderSpecSchema, {
    ...{ name, description, defaultRole: names.roleReference("", defaultRole) },
    oidc: configuration.value,
  });
  return { case: "identityProvider", value };
}

function mappingOf(
  { parent, externalGroupId, roleUid }: StoredRows["externalGroupRoleMapping"][number],
  names: Names,
): AnyResource {
  const role = names.roleReference("", roleUid);
  const value = create(ExternalGroupRoleMappingSpecSchema, {
    identityProvider: names.pathOf(parent),
    externalGroupId,
    role,
  });
  return { case: "externalGroupRoleMapping", value };
}

function associationOf(row: AccountAssociationRow, names: Names): AnyResource {
  const { name = "", description = "", amazon, google, azure, github, chainguard } = associationMessage(row);
  const bindings = Object.entries(chainguard?.serviceBindings ?? {}).map(([service, uid]) => {
    const path = names.findPath(uid);
    return [service, path === undefined ? uid : path.slice(parentPath(path).length).replace(/^\//, "")];
  });
  const value = create(AccountAssociationSpecSchema, {
    ...{ group: names.pathOf(row.uid), name, description },
    ...(amazon && { amazon }),
    ...(google && { google }),
    ...(azure && { azure }),
    ...(github && { github }),
    serviceBindings: Object.fromEntries(bindings),
  });
  return { case: "accountAssociation", value };
}

function repoOf({ name, description, bundles, aliases, activeTags, ...row }: RepoRow, group: string): AnyResource {
  const catalogTier = row.catalogTier as CatalogTier;
  return {
    case: "repo",
    value: create(RepoSpecSchema, { group, name, description, catalogTier, bundles, aliases, activeTags }),
  };
}

function bindingOf({ parent, identityUid, roleUid }: RoleBindingRow, names: Names): AnyResource {
  const group = names.pathOf(parent);
  const identity = names.findPath(identityUid);
  const value = create(RoleBindingSpecSchema, {
    group,
    ...(identity === undefined ? { identityUid } : { identity }),
    role: names.roleReference(group, roleUid),
  });
  return { case: "roleBinding", value };
}
