import { isIP } from "node:net";
import {
  SubscriptionSchema,
  SubscriptionsService,
} from "../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { isPublicAddress } from "../../authn/addresses.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import type { TextRule } from "../../pipeline/rule-book.ts";
import type { Deps } from "../../resource/deps.ts";
import { creationOrders, defineResource } from "../../resource/resource.ts";
import { standardMethods } from "../../resource/standard-methods.ts";
import { groupParents } from "../iam/groups.ts";
import { type SubscriptionRow, subscriptionCollection } from "./rows.ts";

const maxLength = 2048;

const sinkRule: TextRule = {
  test: isSink,
  description: `must be an https URL of at most ${maxLength} characters without credentials or fragment, and of no private address`,
};

const subscription = defineResource<typeof SubscriptionSchema, SubscriptionRow>({
  schema: SubscriptionSchema,
  plural: "subscriptions",
  collection: subscriptionCollection,
  orderable: { uid: "uid", ...creationOrders },
  rules: { sink: sinkRule },
  toMessage: (row) => ({ uid: row.uid, sink: row.sink }),
  toRow: ({ sink }) => ({ sink }),
});

/** Serves subscriptions. */
export function subscriptions(deps: Deps): Implementation {
  const standard = standardMethods(subscription, groupParents, deps);
  return implement(
    SubscriptionsService,
    {
      getSubscription: standard.get,
      listSubscriptions: (request, call) => standard.list(request, call),
      createSubscription: ({ parent, subscription: value }, call) => standard.create(parent, value!, call, {}),
      deleteSubscription: (request, call) => standard.delete(request, call),
    },
    subscription.messageRules,
  );
}

/**
 * Whether events may be sent there, as far as the text tells (security case W1). Where a name leads is seen when something is
 * sent: `https://localhost/callback` is what real clients subscribe with.
 */
function isSink(text: string): boolean {
  // A URL parser passes over white space and control characters, which are no part of a URL.
  if (text.length > maxLength || !/^https:\/\/[!-~]+$/i.test(text) || !URL.canParse(text)) return false;
  const { hostname, username, password } = new URL(text);
  if (username !== "" || password !== "" || text.includes("#")) return false;
  const address = hostname.replace(/^\[|\]$/g, "");
  const family = isIP(address);
  return family === 0 || isPublicAddress({ address, family });
}
