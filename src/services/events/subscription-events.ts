import {
  SubscriptionSchema,
  SubscriptionsService,
} from "../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { type ResourceEvents, resourceEvents } from "../../resource/method-event.ts";
import { rowView } from "../../resource/row-view.ts";
import { type SubscriptionRow, subscriptionCollection } from "../../storage/events/rows.ts";

const { createSubscription, deleteSubscription } = SubscriptionsService.method;

const eventMessage = ({ uid, sink }: SubscriptionRow) => ({ uid, sink });

const subscriptions: ResourceEvents<typeof SubscriptionSchema, SubscriptionRow> = {
  collection: subscriptionCollection,
  schema: SubscriptionSchema,
  message: eventMessage,
};

/** Shows subscriptions in the audit log. */
export const subscriptionView = rowView(subscriptions, eventMessage);

/** The events of subscriptions. A subscription receives its own creation first. */
export const subscriptionEvents = resourceEvents([createSubscription, deleteSubscription], subscriptions);
