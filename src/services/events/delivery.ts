// Shows the delivery queues of subscriptions, with the latest attempts, and lets callers retry them.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { SubscriptionSchema } from "../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import {
  CheckSinkRequestSchema,
  type DeliveryAttemptSchema,
  DeliveryService,
  type DeliveryStateSchema,
  GetDeliveryStateRequestSchema,
  type ListDeliveryStatesRequest,
  type ListDeliveryStatesResponseSchema,
  RetryDeliveryRequestSchema,
} from "../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { notFound } from "../../aip/errors.ts";
import { resourceType } from "../../aip/resource-type.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import type { Call } from "../../pipeline/call.ts";
import { expensive } from "../../pipeline/expensive.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import { uidRule } from "../../pipeline/text-rules.ts";
import { readMethods } from "../../resource/read-methods.ts";
import { type ServiceContext, writeContext } from "../../resource/service-context.ts";
import { findRow } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { type DeliveryAttempt, findAttempts } from "../../storage/events/delivery-attempts.ts";
import {
  countWaiting,
  delayQueue,
  findNextDelivery,
  type QueueState,
  readQueue,
  readQueues,
  stoppedTime,
} from "../../storage/events/delivery-queues.ts";
import { type SubscriptionRow, subscriptionCollection } from "../../storage/events/rows.ts";
import { newEvaluator } from "../iam/delegations/active-delegations.ts";
import { describeInactivity } from "../iam/delegations/inactive-delegations.ts";
import { sinkRule, subscriptionResource } from "./subscriptions/subscriptions.ts";

/** The dependencies of the delivery service. */
export interface DeliveryServiceContext extends ServiceContext {
  /** Returns why nothing can be sent to a sink now; undefined if nothing stands in its way. */
  readonly sinkProblem: (sink: string) => Promise<string | undefined>;
}

/** The maximum count of waiting deliveries. */
const maxCounted = 1000;

type Shown = MessageInitShape<typeof DeliveryStateSchema>;

/** Serves the state of deliveries. */
export function delivery(context: DeliveryServiceContext): Implementation {
  const { database, clock, sinkProblem } = context;
  return implement(
    DeliveryService,
    {
      listDeliveryStates: expensive(listStates(context)),
      getDeliveryState: ({ subscriptionUid }) => database.read((session) => stateOf(session, subscriptionUid)),
      async retryDelivery({ subscriptionUid }, call) {
        return await database.write(writeContext(call, clock), async (tx) => {
          const queue = await readQueue(tx, subscriptionUid);
          if (queue) await delayQueue(tx, subscriptionUid, { ...queue, nextTime: tx.context.time });
          return await stateOf(tx, subscriptionUid);
        });
      },
      checkSink: async ({ sink }) => ({ problem: (await sinkProblem(sink)) ?? "" }),
    },
    [
      ...[GetDeliveryStateRequestSchema, RetryDeliveryRequestSchema].map((schema) => ({
        schema,
        fields: { subscription_uid: uidRule },
      })),
      { schema: CheckSinkRequestSchema, fields: { parent: uidRule, sink: sinkRule(context) } },
    ],
  );
}

function listStates(context: ServiceContext) {
  const { page } = readMethods(subscriptionResource(context), context);
  return async (
    request: ListDeliveryStatesRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof ListDeliveryStatesResponseSchema>> => {
    const { items, ...envelope } = await page<SubscriptionRow>(request, call, {});
    // Not made with the page, which is cached until a subscription changes: deliveries are not in the change log.
    const deliveryStates = await context.database.read((session) => statesOf(session, items, 1));
    return { deliveryStates, ...envelope };
  };
}

async function stateOf(session: Session, subscriptionUid: string): Promise<Shown> {
  const row = await findRow(session, subscriptionCollection, subscriptionUid);
  if (!row) throw notFound(resourceType(SubscriptionSchema), subscriptionUid);
  return (await statesOf(session, [row]))[0]!;
}

/** Returns the states of subscriptions, each with up to `shownAttempts` attempts. */
export async function statesOf(
  session: Session,
  rows: readonly SubscriptionRow[],
  shownAttempts = Number.POSITIVE_INFINITY,
): Promise<Shown[]> {
  const uids = rows.map(({ uid }) => uid);
  const queues = await readQueues(session, uids);
  const found = shownAttempts === 0 ? [] : await findAttempts(session, uids);
  const attempts = Map.groupBy(found, ({ subscriptionUid }) => subscriptionUid);
  const inactivities = await newEvaluator(session).inactivitiesOf(
    uids.map((uid) => ({ kind: "subscriptions" as const, uid })),
  );
  const states: Shown[] = [];
  for (const [i, { uid, sink }] of rows.entries()) {
    const queue = queues.get(uid);
    const inactivity = inactivities[i];
    states.push({
      subscriptionUid: uid,
      sink,
      ...(inactivity && { inactivity: describeInactivity(inactivity) }),
      ...(queue && (await waitingOf(session, uid, queue))),
      recentAttempts: (attempts.get(uid) ?? []).slice(0, shownAttempts).map(shownAttempt),
    });
  }
  return states;
}

async function waitingOf(session: Session, uid: string, queue: QueueState) {
  const first = await findNextDelivery(session, uid);
  return {
    waiting: await countWaiting(session, uid, maxCounted),
    ...(first && { waitingSince: toTimestamp(first.time) }),
    ...(queue.attempts > 0 && {
      failedAttempts: queue.attempts,
      lastFailure: queue.lastFailure,
      ...(queue.nextTime === stoppedTime ? { stopped: true } : { nextAttemptTime: toTimestamp(queue.nextTime) }),
    }),
  };
}

function shownAttempt(attempt: DeliveryAttempt): MessageInitShape<typeof DeliveryAttemptSchema> {
  const { startTime, duration, isDropped, eventType, eventId, httpStatus, responseLine, failure } = attempt;
  return {
    startTime: toTimestamp(startTime),
    duration: durationFromMs(duration),
    eventType,
    eventId,
    httpStatus,
    responseLine,
    failure,
    dropped: isDropped,
  };
}
