// The lists that an export reads, in an order in which parents and referenced resources come first.
import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { SubscriptionsService } from "../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { AccountAssociationsService } from "../../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { ExternalGroupRoleMappingsService } from "../../../gen/chainguard/platform/iam/v2beta1/external_group_role_mappings_pb.ts";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { IdentitiesService } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { IdentityProvidersService } from "../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { RoleBindingsService } from "../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { RolesService } from "../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { ReposService } from "../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { TagsService } from "../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import { operatorRole } from "../../authz/built-in-roles.ts";
import type { Kind } from "./format.ts";

/** How the resources of one kind are read. */
export interface ResourceList {
  readonly kind: Exclude<Kind, "repoReadme" | "suspendedPeople">;
  readonly method: DescMethod;
  /** The field of the response with the resources. */
  readonly field: string;
  /** Further fields of the request. */
  readonly request?: JsonObject;
  /** Returns the resource as an import takes it, or undefined to leave it out; unchanged if absent. */
  readonly toImported?: (row: JsonObject) => JsonObject | undefined;
}

/** The lists in the order of an export. Access is given late, once everything else exists. */
export const resourceLists: readonly ResourceList[] = [
  { kind: "group", method: GroupsService.method.listGroups, field: "groups" },
  { kind: "role", method: RolesService.method.listRoles, field: "roles" },
  { kind: "identity", method: IdentitiesService.method.listIdentities, field: "identities" },
  {
    kind: "identityProvider",
    method: IdentityProvidersService.method.listIdentityProviders,
    field: "identityProviders",
    toImported: ({ scim: _, ...provider }) => provider,
  },
  {
    kind: "externalGroupRoleMapping",
    method: ExternalGroupRoleMappingsService.method.listExternalGroupRoleMappings,
    field: "externalGroupRoleMappings",
  },
  {
    kind: "accountAssociation",
    method: AccountAssociationsService.method.listAccountAssociations,
    field: "accountAssociations",
  },
  { kind: "repo", method: ReposService.method.listRepos, field: "repos" },
  {
    kind: "tag",
    method: TagsService.method.listTags,
    field: "tags",
    request: { includeReferrers: true, includeDates: true, includeEpochs: true },
  },
  {
    kind: "roleBinding",
    method: RoleBindingsService.method.listRoleBindings,
    field: "roleBindings",
    toImported: importedBinding,
  },
  { kind: "subscription", method: SubscriptionsService.method.listSubscriptions, field: "subscriptions" },
];

/** A list shows identity and role of a binding; an import takes their uids. */
function importedBinding({ uid, identity, role, createTime }: JsonObject): JsonObject | undefined {
  const [identityUid, roleUid] = [identity, role].map((shown) => (shown as JsonObject).uid);
  if (roleUid === operatorRole.uid) return undefined;
  return { uid: uid!, identityUid: identityUid!, roleUid: roleUid!, createTime: createTime! };
}
