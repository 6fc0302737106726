// The kinds of resources that have commands, in the order of the help.
import { accessRequestRules } from "./access-request-rules.ts";
import { accountAssociations } from "./account-associations.ts";
import { advisories } from "./advisories.ts";
import { externalGroupRoleMappings } from "./external-group-role-mappings.ts";
import { folders, groups, organizations } from "./groups.ts";
import { identities } from "./identities.ts";
import { identityProviders } from "./identity-providers.ts";
import { invites } from "./invites.ts";
import { repos } from "./repos.ts";
import type { Resource } from "./resource.ts";
import { roleBindings } from "./role-bindings.ts";
import { roles } from "./roles.ts";
import { subscriptions } from "./subscriptions.ts";
import { tags } from "./tags.ts";

/** Every kind of resource with commands. */
export const resources: readonly Resource[] = [
  organizations,
  folders,
  groups,
  identities,
  roles,
  roleBindings,
  accessRequestRules,
  invites,
  identityProviders,
  externalGroupRoleMappings,
  accountAssociations,
  repos,
  tags,
  advisories,
  subscriptions,
];

/** Returns the resource with a message type, by the name of the type; undefined if no commands show it. */
export function resourceOf(type: string): Resource | undefined {
  // Organizations and folders have the message of groups, and keep only some of them.
  return resources.find((resource) => resource.type === type && resource.keep === undefined);
}
