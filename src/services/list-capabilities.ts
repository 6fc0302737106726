// Which capability lists the resources of each kind.
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";

/** The capability that lists the resources of a kind. A caller who holds it at a group may learn how many there are, and what changes. */
export const listCapabilities: ReadonlyMap<string, Capability> = new Map([
  ["groups", Capability.CAP_IAM_GROUPS_LIST],
  ["identities", Capability.CAP_IAM_IDENTITY_LIST],
  ["role_bindings", Capability.CAP_IAM_ROLE_BINDINGS_LIST],
  ["roles", Capability.CAP_IAM_ROLES_LIST],
  ["group_invites", Capability.CAP_IAM_GROUP_INVITES_LIST],
  ["identity_providers", Capability.CAP_IAM_IDENTITY_PROVIDERS_LIST],
  ["external_group_role_mappings", Capability.CAP_IAM_IDENTITY_PROVIDERS_LIST],
  ["account_associations", Capability.CAP_IAM_ACCOUNT_ASSOCIATIONS_LIST],
  ["repos", Capability.CAP_REPO_LIST],
  ["repo_readmes", Capability.CAP_REPO_LIST],
  ["tags", Capability.CAP_TAG_LIST],
  ["advisories", Capability.CAP_ADVISORIES_LIST],
  ["subscriptions", Capability.CAP_EVENTS_SUBSCRIPTION_LIST],
]);
