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
import { namesOfNumbers } from "../../model/capabilities.ts";
import { parentOf } from "../../model/uid.ts";
import type { AccountAssociationRow, GroupRow, IdentityRow, RoleBindingRow, RoleRow } from "../../storage/iam/rows.ts";
import type { RepoRow } from "../../storage/registry/rows.ts";
import { associationMessage } from "../iam/accounts/account-associations.ts";
import { fromColumns } from "../iam/identities/relationships.ts";
import { providerMessage } from "../iam/providers/identity-providers.ts";
import type { AnyResource } from "./kinds.ts";
import { type Names, parentPath } from "./names.ts";
import type { StoredRows } from "./stored-rows.ts";

/** A stored resource. */
export interface StoredResource {
  readonly uid: string;
  readonly resource: AnyResource;
}

/** Returns the stored resources, in the order of creation. */
export function storedResources(rows: StoredRows, names: Names): readonly StoredResource[] {
  const { base } = rows;
  if (!base) return [];
  const organization = base.parent === null ? [{ uid: base.uid, resource: organizationOf(base) }] : [];
  const each = <R extends { readonly uid: string }>(found: readonly R[], convert: (row: R) => AnyResource) =>
    found.map((row): StoredResource => ({ uid: row.uid, resource: convert(row) }));
  const groupOf = ({ uid }: { readonly uid: string }) => names.pathOf(parentOf(uid));
  return [
    ...organization,
    ...each(rows.group, (row) => groupOfRow(row, groupOf(row))),
    ...each(rows.role, (row) => roleOf(row, groupOf(row))),
    ...each(rows.identity, (row) => identityOf(row, groupOf(row))),
    ...each(rows.identityProvider, (row) => providerOf(row, names)),
    ...each(rows.externalGroupRoleMapping, (row) => mappingOf(row, names)),
    ...each(rows.accountAssociation, (row) => associationOf(row, names)),
    ...each(rows.repo, (row) => repoOf(row, groupOf(row))),
    ...each(rows.roleBinding, (row) => bindingOf(row, names)),
    ...each(rows.subscription, (row) => ({
      case: "subscription",
      value: create(SubscriptionSpecSchema, { group: groupOf(row), sink: row.sink }),
    })),
  ];
}

function organizationOf({ name, description }: GroupRow): AnyResource {
  return { case: "organization", value: create(OrganizationSpecSchema, { name, description }) };
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
