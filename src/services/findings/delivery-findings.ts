// Subscriptions whose events do not arrive.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import type { DeliveryStateSchema } from "../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { FindingKind } from "../../../gen/gatehouse/organizations/v1/findings_pb.ts";
import { parentOf } from "../../model/uid.ts";
import { findRows } from "../../storage/collection/rows.ts";
import { failingQueues } from "../../storage/events/queue-figures.ts";
import { subscriptionCollection } from "../../storage/events/rows.ts";
import { droppingSubscriptions } from "../../storage/events/subscription-settings.ts";
import type { Scan } from "../../storage/list/scan.ts";
import { statesOf } from "../deliveries/delivery-states.ts";
import { type FindingParts, type FindingSource, scanOfRows } from "./finding-kind.ts";

type State = MessageInitShape<typeof DeliveryStateSchema>;

/** Subscriptions whose next event could not be delivered so far. */
export const failingDeliveries = subscriptionFinding(
  FindingKind.FAILING_DELIVERY,
  failingQueues,
  ({ waitingSince }) => waitingSince,
);

/** Paused subscriptions that have lost events. */
export const pausedSubscriptions = subscriptionFinding(
  FindingKind.PAUSED_SUBSCRIPTION,
  droppingSubscriptions,
  ({ lastDropTime }) => lastDropTime,
);

function subscriptionFinding(
  kind: FindingKind,
  scan: Scan,
  timeOf: (state: State) => State["waitingSince"],
): FindingSource {
  return {
    kind,
    capability: Capability.CAP_EVENTS_SUBSCRIPTION_LIST,
    startScan: scanOfRows(
      () => scan,
      async (session, uids) => {
        const states = await statesOf(session, await findRows(session, subscriptionCollection, uids), 0);
        return states.map((state): FindingParts => {
          const { subscriptionUid = "", sink = "" } = state;
          const time = timeOf(state);
          return {
            resourceUid: subscriptionUid,
            resourceName: sink,
            groupUid: parentOf(subscriptionUid),
            ...(time && { time }),
            details: { case: "deliveryState", value: state },
          };
        });
      },
    ),
  };
}
