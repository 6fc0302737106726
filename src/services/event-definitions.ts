// The list: every event of the methods of today.
import type { Deps } from "../resource/deps.ts";
import type { EventDefinition } from "../resource/event-definition.ts";
import { authEvents } from "./auth/auth-events.ts";
import { subscriptionEvents } from "./events/subscription-events.ts";
import { accessEvents } from "./iam/access-events.ts";
import { groupEvents } from "./iam/group-events.ts";
import { providerEvents } from "./iam/provider-events.ts";
import { registryEvents } from "./registry/registry-events.ts";

/** What each method causes that changes something. */
export function eventDefinitions(deps: Deps): EventDefinition[] {
  return [
    ...groupEvents,
    ...accessEvents,
    ...providerEvents(deps),
    ...registryEvents,
    ...subscriptionEvents,
    ...authEvents,
  ];
}
