import { uid } from "./columns.ts";
import type { Resource } from "./resource.ts";

export const subscriptions: Resource = {
  path: "events subscriptions",
  noun: "subscription",
  type: "Subscription",
  service: async () =>
    (await import("../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts")).SubscriptionsService,
  verbs: ["list", "describe", "create", "delete"],
  view: { noun: "subscriptions", columns: [{ title: "sink", value: "sink" }, uid] },
  // The list has no filter for it.
  name: { member: "sink", filter: "" },
  argument: { name: "sink", field: "sink" },
  parent: "group",
  fields: [],
};
