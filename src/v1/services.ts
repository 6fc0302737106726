// The services of version 1, which adapt current services for older clients. One line per service.
import type { Implementation } from "../pipeline/handlers.ts";
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
import type { V1Context } from "./images.ts";
import { ping } from "./ping.ts";
import { registry } from "./registry.ts";
import { roleBindings } from "./role-bindings.ts";
import { roles } from "./roles.ts";
import { subscriptions } from "./subscriptions.ts";
import { terms } from "./terms.ts";

/** Builds the services of version 1 on the current ones. Throws an Error if the counterpart of a method is not served. */
export function v1Services(current: readonly Implementation[], context: V1Context): V1Implementation[] {
  const api = newCurrentApi(current, context);
  const served = [
    groups(api),
    identities(api, context),
    roles(api),
    roleBindings(api),
    groupInvites(api, context),
    accountAssociations(api),
    identityProviders(api),
    externalGroupRoleMappings(api),
    terms(api),
    identityMetadata(api),
    subscriptions(api),
    registry(api, context),
    advisories(api, context),
    ping(api),
  ];
  for (const { counterparts } of served) for (const method of counterparts.values()) api.requireServed(method);
  return served;
}
