import { isIP } from "node:net";
import {
  SubscriptionSchema,
  SubscriptionsService,
} from "../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { failedPrecondition } from "../../aip/errors.ts";
import { isListed, isLoopbackUrl, isPublicAddress } from "../../authn/addresses.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import type { TextRule } from "../../pipeline/text-rules.ts";
import { creationOrders, defineResource } from "../../resource/resource.ts";
import { type ServiceContext, type ServiceSettings, writeContext } from "../../resource/service-context.ts";
import { standardMethods } from "../../resource/standard-methods.ts";
import { readCounter } from "../../storage/engine/counters.ts";
import { type SubscriptionRow, subscriptionCollection } from "../../storage/events/rows.ts";
import { childrenKey } from "../../storage/schema/entry-keys.ts";
import { groupParents } from "../iam/groups/groups.ts";

const maxLength = 2048;

/** Each event of a group goes to all of them. */
const maxOfGroup = 100;

const sinkRule = (context: ServiceContext): TextRule => ({
  test: (text) => isSink(text, context.settings),
  description: `must be an https URL of at most ${maxLength} characters without credentials or fragment, and of no private address`,
  maxLength,
});

const subscriptionResource = (context: ServiceContext) =>
  defineResource<typeof SubscriptionSchema, SubscriptionRow>({
    schema: SubscriptionSchema,
    plural: "subscriptions",
    collection: subscriptionCollection,
    orderable: { uid: "uid", ...creationOrders },
    rules: { sink: sinkRule(context) },
    toMessage: (row) => ({ uid: row.uid, sink: row.sink }),
    toRow: ({ sink }) => ({ sink }),
  });

/** Serves subscriptions. What is sent to them is the matter of `src/events`. */
export function subscriptions(context: ServiceContext): Implementation {
  const subscription = subscriptionResource(context);
  const standard = standardMethods(subscription, groupParents, context);
  const { database, clock } = context;
  return implement(
    SubscriptionsService,
    {
      getSubscription: standard.get,
      listSubscriptions: (request, call) => standard.list(request, call),
      async createSubscription({ parent, subscription: value }, call) {
        const row = await database.write(writeContext(call, clock), async (tx) => {
          // Locked first: of two that come at once, the second sees what the first has made.
          const isThere = (await groupParents.lock(tx, parent)) !== undefined;
          if (isThere && (await readCounter(tx, childrenKey(parent), subscriptionCollection.kind)) >= maxOfGroup)
            throw failedPrecondition(
              "TOO_MANY_SUBSCRIPTIONS",
              `a group has ${maxOfGroup} subscriptions at most`,
              parent,
            );
          return await standard.insert(tx, parent, value!, {});
        });
        return subscription.toMessage(row);
      },
      deleteSubscription: (request, call) => standard.delete(request, call),
    },
    subscription.messageRules,
  );
}

/**
 * Whether events may be sent there, as far as the text tells (security case W1). Where a name leads is seen when something is
 * sent: `https://localhost/callback` is what real clients subscribe with.
 */
function isSink(text: string, { allowInsecureSinks, privateSinks }: ServiceSettings): boolean {
  // A URL parser passes over white space and control characters, which are no part of a URL.
  if (text.length > maxLength || !/^https?:\/\/[!-~]+$/i.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username !== "" || url.password !== "" || text.includes("#")) return false;
  if (url.protocol === "http:") return allowInsecureSinks && isLoopbackUrl(url);
  const address = url.hostname.replace(/^\[|\]$/g, "");
  const family = isIP(address);
  return family === 0 || isPublicAddress({ address, family }) || isListed(privateSinks, { address, family });
}
