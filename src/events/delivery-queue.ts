// Delivers the queue of one subscription in order. A failed delivery blocks the ones behind it until it succeeds or is dropped.
import { readTraceParent } from "../base/traceparent.ts";
import { tracing } from "../base/tracing.ts";
import { rootOf } from "../model/uid.ts";
import type { Database } from "../storage/database.ts";
import type { WriteContext } from "../storage/engine/session.ts";
import { addAttempt } from "../storage/events/delivery-attempts.ts";
import {
  advanceQueue,
  delayQueue,
  findNextDelivery,
  finishDelivery,
  type NextDelivery,
  readQueue,
  stoppedTime,
} from "../storage/events/delivery-queues.ts";
import { lockSettings, writeSettings } from "../storage/events/subscription-settings.ts";
import type { Encryption } from "../storage/installation/encryption.ts";
import type { CloudEvent } from "./cloud-event.ts";
import { type Attempt, type SenderOptions, sendEvent } from "./sender.ts";
import { storedAttempt } from "./stored-attempt.ts";

/** Times are in milliseconds. */
const limits = {
  /** How many deliveries one call of `deliverQueue` starts, and for how long. Then other subscriptions get the worker. */
  batchSize: 50,
  batchMs: 10_000,
  /** The retry delay after the first failure. It doubles with each further failure. */
  firstRetryDelayMs: 1_000,
  maxBaseDelayMs: 60 * 60 * 1000,
  /** The longest time that a sink may ask to wait by Retry-After. */
  maxRetryAfterMs: 60 * 60 * 1000,
  /** How old an event may be to be retried. Older ones are dropped. */
  maxEventAgeMs: 3 * 24 * 60 * 60 * 1000,
} as const;

/** The jitter of retry delays: queues that failed together are retried at different times. */
const jitter = { least: 0.75, most: 1.25 } as const;

/** The longest delay before a retry. */
export const maxRetryDelayMs = limits.maxBaseDelayMs * jitter.most;

/** A sink counts as slow if its last attempt took longer than this, whether or not it succeeded. */
export const slowSinkMs = 2_000;

/** The result of a delivery. `given_up` means that it was dropped. */
export type Outcome = Attempt["outcome"] | "given_up";

/** The dependencies of delivering a queue. */
export interface DeliveryContext {
  readonly database: Database;
  /** Encrypts what was sent and answered. */
  readonly encryption: Encryption;
  readonly sender: SenderOptions;
  /** Returns why a subscription is not in force, because its maker may no longer subscribe; undefined if it is. */
  readonly inactivityOf: (subscriptionUid: string) => Promise<string | undefined>;
  /** Returns the context of a write. It contains the time, so call it for each write. */
  readonly newWrite: () => WriteContext;
  /** Called after each attempt, and for each dropped delivery. */
  readonly observe: (outcome: Outcome, delivery: NextDelivery, reason: string) => void;
}

/** Delivers until the queue is empty, a delivery fails or is slow, the batch is full, or `mayContinue` returns false. */
export async function deliverQueue(
  context: DeliveryContext,
  subscriptionUid: string,
  mayContinue: () => boolean,
): Promise<void> {
  const end = performance.now() + limits.batchMs;
  for (let i = 0; i < limits.batchSize && performance.now() < end && mayContinue(); i++) {
    const next = await findNextDelivery(context.database.session, subscriptionUid);
    if (!next) return await context.database.write(context.newWrite(), (tx) => advanceQueue(tx, subscriptionUid));
    if (!(await (next.isPaused ? hold(context, next) : deliver(context, next)))) return;
  }
}

/**
 * Holds the queue of a paused subscription until its first event is too old, and then drops that. Returns whether the next one may follow at
 * once. Looks again after an hour at most: a later time would count as that of a wrong clock.
 */
async function hold({ database, newWrite }: DeliveryContext, next: NextDelivery): Promise<boolean> {
  const now = newWrite();
  const { subscriptionUid: uid } = next;
  const endTime = next.time + limits.maxEventAgeMs + 1;
  return await database.write(now, async (tx) => {
    const settings = await lockSettings(tx, uid);
    if (!settings?.isPaused) return false;
    if (now.time >= endTime) {
      await finishDelivery(tx, next, 0);
      await writeSettings(tx, { ...settings, droppedEvents: settings.droppedEvents + 1, lastDropTime: now.time });
      return true;
    }
    const queue = await readQueue(tx, uid);
    if (queue) await delayQueue(tx, uid, { ...queue, nextTime: Math.min(endTime, now.time + limits.maxBaseDelayMs) });
    return false;
  });
}

/** Tries one delivery and stores the result. Returns whether the next one may follow at once. */
async function deliver(context: DeliveryContext, next: NextDelivery): Promise<boolean> {
  const { database, encryption, sender, newWrite, observe } = context;
  const startTime = newWrite().time;
  const attempt = await attemptOf(context, next);
  // The result is unknown: the node that delivers next tries again.
  if (attempt.outcome !== "delivered" && sender.outbound.signal?.aborted) return false;
  const now = newWrite();
  // The clock may have gone back in the meantime.
  const lastDuration = Math.max(0, now.time - startTime);
  const isDropped = attempt.outcome !== "delivered" && now.time - next.time > limits.maxEventAgeMs;
  const failure = attempt.outcome === "delivered" ? "" : attempt.failure;
  const described = describe(attempt);
  observe(attempt.outcome, next, described);
  if (isDropped) observe("given_up", next, described);
  const isFinished = attempt.outcome === "delivered" || isDropped;
  const attempts = next.attempts + 1;
  await database.write(now, async (tx) => {
    await addAttempt(tx, storedAttempt(encryption, next, attempt, { startTime, duration: lastDuration, isDropped }));
    if (isFinished) return await finishDelivery(tx, next, lastDuration);
    const nextTime = nextTimeAfter(attempt, attempts, now.time);
    await delayQueue(tx, next.subscriptionUid, { attempts, lastFailure: failure, lastDuration, nextTime });
  });
  return isFinished && lastDuration <= slowSinkMs;
}

/** Returns when the next attempt may be made: never after 410 Gone (RFC 9110 §15.5.11), until a user retries. */
function nextTimeAfter(attempt: Attempt, attempts: number, now: number): number {
  if (attempt.reply?.status === 410) return stoppedTime;
  const asked = "retryAfterMs" in attempt ? (attempt.retryAfterMs ?? 0) : 0;
  return now + Math.max(retryDelayAfter(attempts), Math.min(asked, limits.maxRetryAfterMs));
}

/** Returns the reason of a failure for the log of the operator. */
function describe(attempt: Attempt): string {
  if (attempt.outcome === "delivered") return "";
  return attempt.code === undefined ? attempt.failure : `${attempt.failure} (${attempt.code})`;
}

/** Sends the event, unless the subscription is not in force. */
async function attemptOf({ sender, inactivityOf }: DeliveryContext, next: NextDelivery): Promise<Attempt> {
  const inactivity = await inactivityOf(next.subscriptionUid);
  if (inactivity === undefined) return await inTraceOf(next, next.parent, () => sendEvent(next, next, sender));
  const failure = `the subscription is not in force: ${inactivity}`;
  return { outcome: "refused", isVisible: true, failure, reason: "" };
}

/** Returns the delay after so many failures, in milliseconds. */
function retryDelayAfter(attempts: number): number {
  const delay = Math.min(limits.firstRetryDelayMs * 2 ** (attempts - 1), limits.maxBaseDelayMs);
  return Math.round(delay * (jitter.least + Math.random() * (jitter.most - jitter.least)));
}

/**
 * Runs a delivery in a span. Its trace is sampled if that of the call was: both decide by the trace id, which is the request id. The
 * request to the sink then has a `traceparent` of this span instead of that of the event, which says that nothing is recorded.
 */
async function inTraceOf<T extends { readonly outcome: string }>(
  { headers }: CloudEvent,
  groupUid: string,
  deliver: () => Promise<T>,
): Promise<T> {
  const traces = tracing();
  const requestId = readTraceParent(headers.traceparent)?.traceId;
  const header = () => undefined;
  if (requestId === undefined || !traces?.isSampled({ requestId, header })) return await deliver();
  let outcome = "";
  const describe = () => ({
    // The sink is responsible for its failures.
    isFailure: false,
    attributes: {
      // https://opentelemetry.io/docs/specs/semconv/cloudevents/cloudevents-spans/
      "cloudevents.event_id": headers["ce-id"] ?? "",
      "cloudevents.event_type": headers["ce-type"] ?? "",
      "gatehouse.organization": rootOf(groupUid),
      "gatehouse.outcome": outcome,
    },
  });
  const span = { name: "deliver event", requestId, isBackground: true, header, describe };
  return await traces.call(span, async () => {
    const attempt = await deliver();
    outcome = attempt.outcome;
    return attempt;
  });
}
