import {
  SubscriptionSchema,
  SubscriptionsService,
} from "../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { type LoggedResource, rowView } from "../../resource/logged-resource.ts";
import { resourceEvents } from "../../resource/method-event.ts";
import { type SubscriptionRow, subscriptionCollection } from "./rows.ts";

const { createSubscription, deleteSubscription } = SubscriptionsService.method;

const subscriptions: LoggedResource<typeof SubscriptionSchema, SubscriptionRow> = {
  collection: subscriptionCollection,
  schema: SubscriptionSchema,
  message: ({ uid, sink }) => ({ uid, sink }),
};

/** How the change log shows subscriptions. */
export const subscriptionView = rowView(subscriptions, ({ uid, sink }: SubscriptionRow) => ({ uid, sink }));

/** The events of subscriptions. The first that a subscription is told is that it was created. */
export const subscriptionEvents = resourceEvents([createSubscription, deleteSubscription], subscriptions);
