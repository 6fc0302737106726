// An attempt to deliver an event, as it is stored for subscribers.
import { newChild } from "../model/uid.ts";
import { formatPayload } from "../storage/events/attempt-payload.ts";
import { type DeliveryAttempt, type NewAttempt, payloadColumn } from "../storage/events/delivery-attempts.ts";
import type { Encryption } from "../storage/installation/encryption.ts";
import type { CloudEvent } from "./cloud-event.ts";
import { type Attempt, hiddenDurationMs } from "./sender.ts";

/** An event that was sent to a subscription. */
export interface SentEvent extends CloudEvent {
  readonly subscriptionUid: string;
  /** The sequence number of the event; null for a test event. */
  readonly sequence: number | null;
}

/** The time of an attempt, and whether its event was dropped after it. */
type AttemptResult = Pick<DeliveryAttempt, "startTime" | "duration" | "isDropped">;

/** Returns an attempt for storage, without what subscribers must not see. The payload is encrypted; without a key, it is left out. */
export function storedAttempt(
  encryption: Encryption,
  event: SentEvent,
  attempt: Attempt,
  { startTime, duration, isDropped }: AttemptResult,
): NewAttempt {
  const { subscriptionUid, sequence, headers } = event;
  const { reply } = attempt;
  const uid = newChild(subscriptionUid);
  const failed = attempt.outcome === "delivered" ? { failure: "", reason: "" } : attempt;
  return {
    uid,
    subscriptionUid,
    sequence,
    startTime,
    // The duration of a failed attempt would tell private hosts and closed ports from absent ones.
    duration: attempt.isVisible ? duration : hiddenDurationMs,
    eventType: headers["ce-type"] ?? "",
    eventId: headers["ce-id"] ?? "",
    httpStatus: reply?.status ?? 0,
    responseLine: reply?.line ?? "",
    failure: failed.failure,
    reason: failed.reason,
    isDropped,
    payload:
      encryption.keyId === undefined ? null : encryption.encrypt(payloadColumn(uid), formatPayload({ event, reply })),
  };
}
