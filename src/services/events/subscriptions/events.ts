import {
  SubscriptionSchema,
  SubscriptionsService,
} from "../../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { type SubscriptionRow, subscriptionCollection } from "../../../storage/events/rows.ts";
import type { Recorded } from "../../kinds/kind.ts";

const { createSubscription, deleteSubscription } = SubscriptionsService.method;

const message = ({ uid, sink }: SubscriptionRow) => ({ uid, sink });

const recorded = { collection: subscriptionCollection, schema: SubscriptionSchema, message };

/** How changes of subscriptions are shown. A subscription receives its own creation first. */
export const recordedSubscriptions: Recorded = {
  views: [rowView(recorded, message)],
  events: () => resourceEvents([createSubscription, deleteSubscription], recorded),
};
