// The requests of the methods that create, update and delete a resource of an apply.
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { SubscriptionsService } from "../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { AccountAssociationsService } from "../../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { ExternalGroupRoleMappingsService } from "../../../gen/chainguard/platform/iam/v2beta1/external_group_role_mappings_pb.ts";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { IdentitiesService } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { IdentityProvidersService } from "../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { RoleBindingsService } from "../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { RolesService } from "../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { ReposService } from "../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { findCapabilityByName } from "../../model/capabilities.ts";
import type { AnyResource, Kind, ValueOf } from "./kinds.ts";
import { joinPath } from "./names.ts";

/** A request of a method, which creates, updates or deletes a resource. */
export interface Operation {
  readonly method: DescMethodUnary;
  readonly request: object;
}

/** Returns the uids of what a resource refers to. */
export interface Uids {
  group(path: string): string;
  role(group: string, reference: string): string;
  identity(path: string): string;
  identityProvider(name: string): string;
}

interface Methods {
  readonly create: DescMethodUnary;
  readonly update?: DescMethodUnary;
  readonly delete?: DescMethodUnary;
}

const methods: Readonly<Record<Kind, Methods>> = {
  organization: { create: GroupsService.method.createGroup, update: GroupsService.method.updateGroup },
  group: {
    create: GroupsService.method.createGroup,
    update: GroupsService.method.updateGroup,
    delete: GroupsService.method.deleteGroup,
  },
  role: {
    create: RolesService.method.createRole,
    update: RolesService.method.updateRole,
    delete: RolesService.method.deleteRole,
  },
  identity: {
    create: IdentitiesService.method.createIdentity,
    update: IdentitiesService.method.updateIdentity,
    delete: IdentitiesService.method.deleteIdentity,
  },
  identityProvider: {
    create: IdentityProvidersService.method.createIdentityProvider,
    update: IdentityProvidersService.method.updateIdentityProvider,
    delete: IdentityProvidersService.method.deleteIdentityProvider,
  },
  externalGroupRoleMapping: {
    create: ExternalGroupRoleMappingsService.method.createExternalGroupRoleMapping,
    delete: ExternalGroupRoleMappingsService.method.deleteExternalGroupRoleMapping,
  },
  accountAssociation: {
    create: AccountAssociationsService.method.createAccountAssociation,
    update: AccountAssociationsService.method.updateAccountAssociation,
    delete: AccountAssociationsService.method.deleteAccountAssociation,
  },
  repo: {
    create: ReposService.method.createRepo,
    update: ReposService.method.updateRepo,
    delete: ReposService.method.deleteRepo,
  },
  roleBinding: {
    create: RoleBindingsService.method.createRoleBinding,
    delete: RoleBindingsService.method.deleteRoleBinding,
  },
  subscription: {
    create: SubscriptionsService.method.createSubscription,
    delete: SubscriptionsService.method.deleteSubscription,
  },
};

/** Returns the request that creates a resource. */
export function creation(resource: AnyResource, uids: Uids): Operation {
  const method = methods[resource.case].create;
  const parent = parentUid(resource, uids);
  return { method, request: { parent, [fieldOf(resource.case)]: messageOf(resource, uids, true) } };
}

/** Returns the request that updates these fields of a resource. */
export function update(resource: AnyResource, uid: string, fields: readonly string[], uids: Uids): Operation {
  const { update: method } = methods[resource.case];
  if (!method) throw new Error(`a resource of the kind ${resource.case} has no update`);
  const paths = fields.map((field) => (field === "service_bindings" ? "chainguard" : field));
  const value = { ...messageOf(resource, uids, fields.includes("oidc.client_secret")), uid };
  return { method, request: { [fieldOf(resource.case)]: value, updateMask: { paths } } };
}

/** Returns the request that deletes a resource. */
export function deletion(kind: Kind, uid: string): Operation {
  const { delete: method } = methods[kind];
  if (!method) throw new Error(`a resource of the kind ${kind} is never deleted`);
  return { method, request: { uid } };
}

/** The field of a request with the resource. */
function fieldOf(kind: Kind): string {
  return kind === "organization" ? "group" : kind;
}

function parentUid({ case: kind, value }: AnyResource, uids: Uids): string {
  if (kind === "organization") return "";
  if (kind === "externalGroupRoleMapping") return uids.identityProvider(value.identityProvider);
  return uids.group(kind === "identityProvider" ? "" : value.group);
}

type Message = Readonly<Record<string, unknown>>;

function messageOf(resource: AnyResource, uids: Uids, hasSecret: boolean): Message {
  switch (resource.case) {
    case "organization":
    case "group": {
      const { name, description } = resource.value;
      return { name, description };
    }
    case "role": {
      const { name, description, capabilities } = resource.value;
      return { name, description, capabilities: [...new Set(capabilities)].map(numberOf) };
    }
    case "identity": {
      const { name, description, company, relationship } = resource.value;
      return { name, description, company, relationship };
    }
    case "identityProvider":
      return providerOf(resource.value, uids, hasSecret);
    case "externalGroupRoleMapping": {
      const { externalGroupId, role } = resource.value;
      return { externalGroupId, roleUid: uids.role("", role), scope: uids.group("") };
    }
    case "accountAssociation":
      return associationOf(resource.value, uids);
    case "repo": {
      const { name, description, catalogTier, bundles, aliases, activeTags } = resource.value;
      return { name, description, catalogTier, bundles, aliases, activeTags };
    }
    case "roleBinding": {
      const { group, identity, identityUid, role } = resource.value;
      return { identityUid: identity === "" ? identityUid : uids.identity(identity), roleUid: uids.role(group, role) };
    }
    case "subscription":
      return { sink: resource.value.sink };
  }
}

/** An unknown name becomes a number without a capability, which the rules of roles reject. */
function numberOf(capability: string): number {
  return findCapabilityByName(capability)?.number ?? 0;
}

function providerOf(
  { name, description, defaultRole, oidc }: ValueOf<"identityProvider">,
  uids: Uids,
  hasSecret: boolean,
): Message {
  const configuration = oidc && {
    case: "oidc",
    value: hasSecret ? oidc : { ...oidc, clientSecret: "" },
  };
  return { name, description, defaultRole: uids.role("", defaultRole), ...(configuration && { configuration }) };
}

function associationOf(value: ValueOf<"accountAssociation">, uids: Uids): Message {
  const { group, name, description, amazon, google, azure, github } = value;
  const bindings = Object.entries(value.serviceBindings).map(([service, identity]) => [
    service,
    uids.identity(joinPath(group, identity)),
  ]);
  const chainguard = bindings.length > 0 ? { serviceBindings: Object.fromEntries(bindings) } : undefined;
  return { name, description, amazon, google, azure, github, chainguard };
}
