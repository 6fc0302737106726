import { SubscriptionSchema } from "../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import {
  DeliveryService,
  GetDeliveryStateRequestSchema,
  RetryDeliveryRequestSchema,
} from "../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { notFound } from "../../aip/errors.ts";
import { resourceType } from "../../aip/resource-type.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import { uidRule } from "../../pipeline/text-rules.ts";
import { type ServiceContext, writeContext } from "../../resource/service-context.ts";
import { findRow } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { delayQueue, findWaiting, readQueue } from "../../storage/events/delivery-queues.ts";
import { subscriptionCollection } from "../../storage/events/rows.ts";
import { subscriptionInactivity } from "../iam/delegations/inactive-delegations.ts";

/** The maximum count of waiting deliveries. */
const maxCounted = 1000;

/** Serves the state of deliveries. */
export function delivery({ database, clock }: ServiceContext): Implementation {
  return implement(
    DeliveryService,
    {
      getDeliveryState: ({ subscriptionUid }) => database.read((session) => stateOf(session, subscriptionUid)),
      async retryDelivery({ subscriptionUid }, call) {
        return await database.write(writeContext(call, clock), async (tx) => {
          const queue = await readQueue(tx, subscriptionUid);
          if (queue) await delayQueue(tx, subscriptionUid, { ...queue, nextTime: tx.context.time });
          return await stateOf(tx, subscriptionUid);
        });
      },
    },
    [GetDeliveryStateRequestSchema, RetryDeliveryRequestSchema].map((schema) => ({
      schema,
      fields: { subscription_uid: uidRule },
    })),
  );
}

async function stateOf(session: Session, subscriptionUid: string) {
  if (!(await findRow(session, subscriptionCollection, subscriptionUid)))
    throw notFound(resourceType(SubscriptionSchema), subscriptionUid);
  const queue = await readQueue(session, subscriptionUid);
  const waiting = await findWaiting(session, subscriptionUid, maxCounted);
  const [first] = waiting;
  const inactivity = await subscriptionInactivity(session, subscriptionUid);
  return {
    subscriptionUid,
    waiting: waiting.length,
    ...(inactivity !== undefined && { inactivity }),
    ...(first !== undefined && { waitingSince: toTimestamp(first) }),
    ...(queue &&
      queue.attempts > 0 && {
        failedAttempts: queue.attempts,
        lastFailure: queue.lastFailure,
        nextAttemptTime: toTimestamp(queue.nextTime),
      }),
  };
}
