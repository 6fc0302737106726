import { isIP } from "node:net";
import {
  SubscriptionSchema,
  SubscriptionsService,
} from "../../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { failedPrecondition, notFound } from "../../../aip/errors.ts";
import { resourceType } from "../../../aip/resource-type.ts";
import { hasPortZero, isListed, isLoopbackUrl, isPublicAddress } from "../../../base/address-ranges.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import type { TextRule } from "../../../pipeline/text-rules.ts";
import { commonOrders, defineResource } from "../../../resource/resource.ts";
import { type ServiceContext, type ServiceSettings, writeContext } from "../../../resource/service-context.ts";
import { standardMethods } from "../../../resource/standard-methods.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import { readCounter } from "../../../storage/engine/counters.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { type SubscriptionRow, subscriptionCollection } from "../../../storage/events/rows.ts";
import { childrenKey } from "../../../storage/schema/entry-keys.ts";
import { groupParents } from "../../iam/groups/groups.ts";

const maxLength = 2048;

/** The maximum number of subscriptions of a group. Each event of the group goes to all of them. */
export const maxOfGroup = 100;

/** Returns the rule for sinks, by their text. */
export const sinkRule = (context: ServiceContext): TextRule => ({
  test: (text) => isSink(text, context.settings),
  description: `must be an https URL of at most ${maxLength} characters without credentials, fragment and port 0, and not on a private address`,
  maxLength,
});

export const subscriptionResource = (context: ServiceContext) =>
  defineResource<typeof SubscriptionSchema, SubscriptionRow>({
    schema: SubscriptionSchema,
    plural: "subscriptions",
    collection: subscriptionCollection,
    orderable: { ...commonOrders, name: "sink" },
    rules: { sink: sinkRule(context) },
    toMessage: (row) => ({ uid: row.uid, sink: row.sink }),
    toRow: ({ sink }) => ({ sink }),
  });

/** Returns a subscription. Throws NOT_FOUND. */
export async function findSubscription(session: Session, uid: string): Promise<SubscriptionRow> {
  const row = await findRow(session, subscriptionCollection, uid);
  if (!row) throw notFound(resourceType(SubscriptionSchema), uid);
  return row;
}

/** Serves subscriptions. `src/events` delivers to them. */
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
          // Locked first: a concurrent creation must see this one.
          const exists = (await groupParents.lock(tx, parent)) !== undefined;
          if (exists && (await readCounter(tx, childrenKey(parent), subscriptionCollection.kind)) >= maxOfGroup)
            throw failedPrecondition(
              "TOO_MANY_SUBSCRIPTIONS",
              `a group may have at most ${maxOfGroup} subscriptions; delete one first`,
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
 * Whether a URL may be a sink, by its text (security case W1). The addresses of a host name are checked when an event is sent: real
 * clients subscribe with `https://localhost/callback`.
 */
function isSink(text: string, { allowInsecureSinks, privateSinks }: ServiceSettings): boolean {
  // The URL parser ignores white space and control characters, which a URL must not contain.
  if (text.length > maxLength || !/^https?:\/\/[!-~]+$/i.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username !== "" || url.password !== "" || text.includes("#") || hasPortZero(url)) return false;
  if (url.protocol === "http:") return allowInsecureSinks && isLoopbackUrl(url);
  const address = url.hostname.replace(/^\[|\]$/g, "");
  const family = isIP(address);
  return family === 0 || isPublicAddress({ address, family }) || isListed(privateSinks, { address, family });
}
