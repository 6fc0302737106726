import { Subscriptions } from "../../gen/chainguard/platform/events/v1/subscriptions_pb.ts";
import { SubscriptionsService } from "../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { passThrough, serve, type V1Implementation } from "./adapter.ts";
import type { CurrentApi } from "./current-api.ts";
import { list } from "./lists.ts";

const [v1, current] = [Subscriptions.method, SubscriptionsService.method];

/** Serves subscriptions in version 1. */
export function subscriptions(api: CurrentApi): V1Implementation {
  return serve(Subscriptions, {
    create: passThrough(api, v1.create, current.createSubscription),
    list: list(api, v1.list, current.listSubscriptions),
    delete: passThrough(api, v1.delete, current.deleteSubscription),
  });
}
