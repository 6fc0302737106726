import { create } from "@bufbuild/protobuf";
import {
  SubscriptionSchema,
  SubscriptionsService,
} from "../../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { SubscriptionSpecSchema } from "../../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { parentOf } from "../../../model/uid.ts";
import { subscriptionCollection } from "../../../storage/events/rows.ts";
import { defineKind } from "../../kinds/kind.ts";
import { atGroup } from "../../kinds/names.ts";
import { recordedSubscriptions } from "./events.ts";
import { subscriptionImport } from "./import.ts";
import { subscriptions } from "./subscriptions.ts";

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
