// Subscriptions whose events do not arrive.
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { FindingKind } from "../../../gen/gatehouse/organizations/v1/findings_pb.ts";
import { parentOf } from "../../model/uid.ts";
import { findRows } from "../../storage/collection/rows.ts";
import { failingQueues } from "../../storage/events/queue-figures.ts";
import { subscriptionCollection } from "../../storage/events/rows.ts";
import { statesOf } from "../events/delivery.ts";
import { type FindingParts, type FindingSource, scanOfRows } from "./finding-kind.ts";

/** Subscriptions whose next event could not be delivered so far. */
export const failingDeliveries: FindingSource = {
  kind: FindingKind.FAILING_DELIVERY,
  capability: Capability.CAP_EVENTS_SUBSCRIPTION_LIST,
  startScan: scanOfRows(
    () => failingQueues,
    async (session, uids) => {
      const states = await statesOf(session, await findRows(session, subscriptionCollection, uids), 0);
      return states.map((state): FindingParts => {
        const { subscriptionUid = "", sink = "", waitingSince } = state;
        return {
          resourceUid: subscriptionUid,
          resourceName: sink,
          groupUid: parentOf(subscriptionUid),
          ...(waitingSince && { time: waitingSince }),
          details: { case: "deliveryState", value: state },
        };
      });
    },
  ),
};
