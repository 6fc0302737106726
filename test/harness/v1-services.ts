// The services of version 1.
import { Identities as IdentityMetadata } from "../../gen/chainguard/platform/events/v1/identities_pb.ts";
import { Subscriptions } from "../../gen/chainguard/platform/events/v1/subscriptions_pb.ts";
import { GroupAccountAssociations } from "../../gen/chainguard/platform/iam/v1/account_associations_pb.ts";
import { ExternalGroupRoleMappings } from "../../gen/chainguard/platform/iam/v1/external_group_role_mappings_pb.ts";
import { GroupInvites } from "../../gen/chainguard/platform/iam/v1/group_invites_pb.ts";
import { Groups } from "../../gen/chainguard/platform/iam/v1/groups_pb.ts";
import { Identities } from "../../gen/chainguard/platform/iam/v1/identities_pb.ts";
import { IdentityProviders } from "../../gen/chainguard/platform/iam/v1/identity_providers_pb.ts";
import { RoleBindings } from "../../gen/chainguard/platform/iam/v1/role_bindings_pb.ts";
import { Roles } from "../../gen/chainguard/platform/iam/v1/roles_pb.ts";
import { Terms } from "../../gen/chainguard/platform/iam/v1/terms_pb.ts";
import { PingService } from "../../gen/chainguard/platform/ping/v1/ping_pb.ts";
import { Registry } from "../../gen/chainguard/platform/registry/v1/registry_pb.ts";
import { Advisories } from "../../gen/chainguard/platform/vulnerabilities/v1/advisories_pb.ts";

/** The services of version 1 that can be called. */
export const v1Services = [
  Groups,
  Identities,
  Roles,
  RoleBindings,
  GroupInvites,
  GroupAccountAssociations,
  IdentityProviders,
  ExternalGroupRoleMappings,
  Terms,
  IdentityMetadata,
  Subscriptions,
  Registry,
  Advisories,
  PingService,
] as const;
