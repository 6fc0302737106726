// The events of version 1: those of today in other words.
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { Subscriptions } from "../../gen/chainguard/platform/events/v1/subscriptions_pb.ts";
import { ExternalGroupRoleMappings } from "../../gen/chainguard/platform/iam/v1/external_group_role_mappings_pb.ts";
import { RoleBindings } from "../../gen/chainguard/platform/iam/v1/role_bindings_pb.ts";
import { mapMaybe } from "../base/maybe-promise.ts";
import type { EventDefinition } from "../resource/event-definition.ts";
import { type MethodEvent, toEventDefinition } from "../resource/method-event.ts";
import type { AdaptedEvent, V1Implementation } from "./adapter.ts";

const leftOut: Partial<MethodEvent> = { body: () => undefined };

/** What the published contract has otherwise. */
const differences: ReadonlyMap<DescMethodUnary, Partial<MethodEvent>> = new Map<DescMethodUnary, Partial<MethodEvent>>([
  [Subscriptions.method.delete, leftOut],
  [ExternalGroupRoleMappings.method.delete, leftOut],
  [RoleBindings.method.createBatch, { subject: (uids) => uids.join() }],
]);

/** The events of the methods of version 1 that stand for methods of today with an event. */
export function v1EventDefinitions(
  served: readonly V1Implementation[],
  today: readonly MethodEvent[],
): EventDefinition[] {
  return served.flatMap(({ service, events }) =>
    [...events].flatMap(([name, event]) => {
      const counterpart = today.find(({ method }) => method === event.of);
      return counterpart
        ? [toEventDefinition(inOtherWords(counterpart, service.method[name] as DescMethodUnary, event))]
        : [];
    }),
  );
}

function inOtherWords(counterpart: MethodEvent, method: DescMethodUnary, { told }: AdaptedEvent): MethodEvent {
  return {
    ...counterpart,
    method,
    body: (changes, session) => mapMaybe(counterpart.body(changes, session), (body) => body && told(body as never)),
    ...differences.get(method),
  };
}
