// Lists the events of all current methods, and those with another cause.

import type { EventDefinition } from "../resource/event-definition.ts";
import { type MethodEvent, toEventDefinition } from "../resource/method-event.ts";
import type { ServiceContext } from "../resource/service-context.ts";
import { closingEvents } from "./access/reviews/kind.ts";
import { authEvents } from "./auth/auth-events.ts";
import { otherRequestEvents } from "./iam/access-requests/kinds.ts";
import { findingEvent } from "./registry/contents/finding-events.ts";
import { pushEvent } from "./registry/pushes.ts";
import { recordedKinds } from "./resources.ts";

/** Returns all events except those of the methods of other versions. */
export function eventDefinitions(context: ServiceContext): EventDefinition[] {
  return [
    ...methodEvents(context).map(toEventDefinition),
    ...otherRequestEvents(),
    ...closingEvents(),
    pushEvent(context),
    findingEvent(),
  ];
}

/** Returns the events of the current methods. */
export function methodEvents(context: ServiceContext): MethodEvent[] {
  return [...recordedKinds.flatMap(({ events }) => events(context)), ...authEvents];
}
