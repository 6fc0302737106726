import { Subscriptions } from "../../gen/chainguard/platform/events/v1/subscriptions_pb.ts";
import { SubscriptionsService } from "../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { same, serve, type V1Implementation } from "./adapter.ts";
import type { Today } from "./current-api.ts";
import { list } from "./lists.ts";

const [v1, now] = [Subscriptions.method, SubscriptionsService.method];

/** Serves subscriptions as version 1 has them. */
export function subscriptions(today: Today): V1Implementation {
  return serve(Subscriptions, {
    create: same(today, v1.create, now.createSubscription),
    list: list(today, v1.list, now.listSubscriptions),
    delete: same(today, v1.delete, now.deleteSubscription),
  });
}
