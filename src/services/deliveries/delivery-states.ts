// The state of the delivery queues of subscriptions, with the latest attempts.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  type DeliveryAttemptSchema,
  DeliveryFailure,
  type DeliveryStateSchema,
  type ListDeliveryStatesRequest,
  type ListDeliveryStatesResponseSchema,
} from "../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import type { Call } from "../../pipeline/call.ts";
import { readMethods } from "../../resource/read-methods.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import type { Session } from "../../storage/engine/session.ts";
import { type DeliveryAttempt, findAttempts } from "../../storage/events/delivery-attempts.ts";
import {
  countWaiting,
  findNextDelivery,
  type QueueState,
  readQueues,
  stoppedTime,
} from "../../storage/events/delivery-queues.ts";
import type { SubscriptionRow } from "../../storage/events/rows.ts";
import { readSettingsOf, type SettingsRow } from "../../storage/events/subscription-settings.ts";
import { settingsMessage } from "../events/subscriptions/recorded.ts";
import { findSubscription, subscriptionResource } from "../events/subscriptions/subscriptions.ts";
import { newEvaluator } from "../iam/delegations/active-delegations.ts";
import { describeInactivity } from "../iam/delegations/inactive-delegations.ts";

/** The maximum count of waiting deliveries. */
const maxCounted = 1000;

type Shown = MessageInitShape<typeof DeliveryStateSchema>;

/** Returns the method that lists the states of the subscriptions that the caller may see. */
export function listStates(context: ServiceContext) {
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

/** Returns the state of a subscription. Throws NOT_FOUND. */
export async function stateOf(session: Session, subscriptionUid: string): Promise<Shown> {
  return (await statesOf(session, [await findSubscription(session, subscriptionUid)]))[0]!;
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
  const settingsOf = await readSettingsOf(session, uids);
  const states: Shown[] = [];
  for (const [i, row] of rows.entries()) {
    const { uid, sink } = row;
    const queue = queues.get(uid);
    const inactivity = inactivities[i];
    const settings = settingsOf(uid);
    states.push({
      subscriptionUid: uid,
      sink,
      settings: settingsMessage(row, settings),
      ...droppedBy(settings),
      ...(inactivity && { inactivity: describeInactivity(inactivity) }),
      ...(queue && (await waitingOf(session, settings, queue))),
      recentAttempts: (attempts.get(uid) ?? []).slice(0, shownAttempts).map(shownAttempt),
    });
  }
  return states;
}

function droppedBy({ droppedEvents, lastDropTime }: SettingsRow) {
  return { droppedEvents, ...(lastDropTime !== null && { lastDropTime: toTimestamp(lastDropTime) }) };
}

async function waitingOf(session: Session, { uid, isPaused }: SettingsRow, queue: QueueState) {
  const isStopped = queue.nextTime === stoppedTime;
  const first = await findNextDelivery(session, uid);
  return {
    waiting: await countWaiting(session, uid, maxCounted),
    ...(first && { waitingSince: toTimestamp(first.time) }),
    ...(queue.attempts > 0 && {
      failedAttempts: queue.attempts,
      lastFailure: queue.lastFailure,
      ...(isStopped && { stopped: true }),
      ...(!isStopped && !isPaused && { nextAttemptTime: toTimestamp(queue.nextTime) }),
    }),
  };
}

const reasons: Readonly<Record<string, DeliveryFailure>> = {
  no_public_address: DeliveryFailure.NO_PUBLIC_ADDRESS,
  connect: DeliveryFailure.CONNECT,
  tls: DeliveryFailure.TLS,
  timeout: DeliveryFailure.TIMEOUT,
  status: DeliveryFailure.STATUS,
};

/** Converts an attempt, without its payload. */
export function shownAttempt(attempt: DeliveryAttempt): MessageInitShape<typeof DeliveryAttemptSchema> {
  const { startTime, duration, isDropped, eventType, eventId, httpStatus, responseLine, failure } = attempt;
  return {
    uid: attempt.uid ?? "",
    startTime: toTimestamp(startTime),
    duration: durationFromMs(duration),
    eventType,
    eventId,
    httpStatus,
    responseLine,
    failure,
    failureReason: reasons[attempt.reason ?? ""] ?? DeliveryFailure.UNSPECIFIED,
    dropped: isDropped,
  };
}
