import {
  SubscriptionSchema,
  SubscriptionsService,
} from "../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { resourceEvents } from "../../resource/method-event.ts";
import { type SubscriptionRow, subscriptionCollection } from "./rows.ts";

const { createSubscription, deleteSubscription } = SubscriptionsService.method;

/** The events of subscriptions. The first that a subscription is told is that it was created. */
export const subscriptionEvents = resourceEvents([createSubscription, deleteSubscription], {
  collection: subscriptionCollection,
  schema: SubscriptionSchema,
  message: ({ uid, sink }: SubscriptionRow) => ({ uid, sink }),
});
