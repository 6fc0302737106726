// Version 1: the methods of today in the words of the clients that came before. One line per service.
import type { Implementation } from "../pipeline/handlers.ts";
import type { ServiceContext } from "../resource/service-context.ts";
import { accountAssociations } from "./account-associations.ts";
import type { V1Implementation } from "./adapter.ts";
import { advisories } from "./advisories.ts";
import { newCurrentApi } from "./current-api.ts";
import { externalGroupRoleMappings } from "./external-group-role-mappings.ts";
import { groupInvites } from "./group-invites.ts";
import { groups } from "./groups.ts";
import { identities } from "./identities.ts";
import { identityMetadata } from "./identity-metadata.ts";
import { identityProviders } from "./identity-providers.ts";
import { ping } from "./ping.ts";
import { registry } from "./registry.ts";
import { roleBindings } from "./role-bindings.ts";
import { roles } from "./roles.ts";
import { subscriptions } from "./subscriptions.ts";
import { terms } from "./terms.ts";

/** The services of version 1, on top of those of today. Throws an Error when a method has a counterpart that is not served. */
export function v1Services(current: readonly Implementation[], context: ServiceContext): V1Implementation[] {
  const today = newCurrentApi(current, context);
  const served = [
    groups(today),
    identities(today, context),
    roles(today),
    roleBindings(today),
    groupInvites(today, context),
    accountAssociations(today),
    identityProviders(today),
    externalGroupRoleMappings(today),
    terms(today),
    identityMetadata(today),
    subscriptions(today),
    registry(today, context),
    advisories(today, context),
    ping(today),
  ];
  for (const { counterparts } of served) for (const method of counterparts.values()) today.requireServed(method);
  return served;
}
