import {
  SubscriptionSchema,
  SubscriptionsService,
} from "../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { type ResourceEvents, resourceEvents } from "../../resource/method-event.ts";
import { rowView } from "../../resource/row-view.ts";
import { type SubscriptionRow, subscriptionCollection } from "../../storage/events/rows.ts";

const { createSubscription, deleteSubscription } = SubscriptionsService.method;

const toldOf = ({ uid, sink }: SubscriptionRow) => ({ uid, sink });

const subscriptions: ResourceEvents<typeof SubscriptionSchema, SubscriptionRow> = {
  collection: subscriptionCollection,
  schema: SubscriptionSchema,
  message: toldOf,
};

/** How the change log shows subscriptions. */
export const subscriptionView = rowView(subscriptions, toldOf);

/** The events of subscriptions. The first that a subscription is told is that it was created. */
export const subscriptionEvents = resourceEvents([createSubscription, deleteSubscription], subscriptions);
