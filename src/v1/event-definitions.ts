// Converts events of current methods to those of version 1.
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { Subscriptions } from "../../gen/chainguard/platform/events/v1/subscriptions_pb.ts";
import { ExternalGroupRoleMappings } from "../../gen/chainguard/platform/iam/v1/external_group_role_mappings_pb.ts";
import { RoleBindings } from "../../gen/chainguard/platform/iam/v1/role_bindings_pb.ts";
import { mapMaybe } from "../base/maybe-promise.ts";
import type { EventDefinition } from "../resource/event-definition.ts";
import { type MethodEvent, toEventDefinition } from "../resource/method-event.ts";
import type { AdaptedEvent, V1Implementation } from "./adapter.ts";

const withoutBody: Partial<MethodEvent> = { body: () => undefined };

/** Differences that the published contract has. */
const differences: ReadonlyMap<DescMethodUnary, Partial<MethodEvent>> = new Map<DescMethodUnary, Partial<MethodEvent>>([
  [Subscriptions.method.delete, withoutBody],
  [ExternalGroupRoleMappings.method.delete, withoutBody],
  [RoleBindings.method.createBatch, { subject: (uids) => uids.join() }],
]);

/** Returns the events of the methods of version 1 whose counterparts have events. */
export function v1EventDefinitions(
  served: readonly V1Implementation[],
  api: readonly MethodEvent[],
): EventDefinition[] {
  return served.flatMap(({ service, events }) =>
    [...events].flatMap(([name, event]) => {
      const counterpart = api.find(({ method }) => method === event.of);
      return counterpart
        ? [toEventDefinition(convertEvent(counterpart, service.method[name] as DescMethodUnary, event))]
        : [];
    }),
  );
}

function convertEvent(counterpart: MethodEvent, method: DescMethodUnary, { toV1Event }: AdaptedEvent): MethodEvent {
  return {
    ...counterpart,
    method,
    body: (changes, session) =>
      mapMaybe(counterpart.body(changes, session), (body) => body && toV1Event(body as never)),
    ...differences.get(method),
  };
}
