import { create } from "@bufbuild/protobuf";
import {
  SubscriptionSchema,
  SubscriptionsService,
} from "../../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { SubscriptionSpecSchema } from "../../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { parentOf } from "../../../model/uid.ts";
import { resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { type SubscriptionRow, subscriptionCollection } from "../../../storage/events/rows.ts";
import { defineKind, type Recorded } from "../../kinds/kind.ts";
import { atGroup } from "../../kinds/names.ts";
import { subscriptionImport } from "./import.ts";
import { subscriptionViews } from "./recorded.ts";
import { subscriptions } from "./subscriptions.ts";

const { createSubscription, deleteSubscription } = SubscriptionsService.method;

const message = ({ uid, sink }: SubscriptionRow) => ({ uid, sink });

const recorded = { collection: subscriptionCollection, schema: SubscriptionSchema, message };

/** The recording of changes of subscriptions. A subscription receives its own creation first. */
const recordedSubscriptions: Recorded = {
  views: [rowView(recorded, message), ...subscriptionViews],
  events: () => resourceEvents([createSubscription, deleteSubscription], recorded),
};

/** Subscriptions. */
export const subscriptionKind = defineKind({
  name: "subscription",
  schema: SubscriptionSchema,
  service: SubscriptionsService,
  collection: subscriptionCollection,
  implement: subscriptions,
  transfer: [subscriptionImport],
  recorded: recordedSubscriptions,
  file: {
    references: [],
    nameOf: ({ sink }, _names, group) => ({ name: `${sink}${atGroup(group)}`, key: `${group} ${sink}` }),
    toSpec: ({ uid, sink }, names) => create(SubscriptionSpecSchema, { group: names.pathOf(parentOf(uid)), sink }),
    toMessage: ({ sink }) => ({ sink }),
  },
});
