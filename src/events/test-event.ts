// Sends a test event: one attempt, outside of the queue.
import { randomUUID } from "node:crypto";
import type { Encryption } from "../storage/installation/encryption.ts";
import { type SenderOptions, sendEvent } from "./sender.ts";
import { type SentEvent, storedAttempt } from "./stored-attempt.ts";

/** The dependencies of sending a test event. */
interface TestContext {
  readonly encryption: Encryption;
  readonly sender: SenderOptions;
}

/** The subscription to test. */
interface TestedSubscription {
  readonly uid: string;
  readonly parent: string;
  readonly sink: string;
}

/** The author of a test event. */
interface TestActor {
  readonly actor: string;
  readonly actorClaims?: Readonly<Record<string, string>> | undefined;
}

/** Sends a test event to the sink of a subscription, and returns the attempt as it is stored. */
export async function sendTestEvent(
  { encryption, sender }: TestContext,
  subscription: TestedSubscription,
  type: string,
  by: TestActor,
) {
  const startTime = sender.clock();
  const event = newTestEvent(subscription, type, by, { time: startTime, issuer: sender.issuer });
  const attempt = await sendEvent(event, subscription, sender);
  // The clock may have gone back in the meantime.
  const duration = Math.max(0, sender.clock() - startTime);
  return storedAttempt(encryption, event, attempt, { startTime, duration, isDropped: false });
}

function newTestEvent(
  { uid, parent }: TestedSubscription,
  type: string,
  { actor, actorClaims = {} }: TestActor,
  { time, issuer }: { readonly time: number; readonly issuer: string },
): SentEvent {
  const headers = {
    "content-type": "application/json",
    "ce-specversion": "1.0",
    "ce-id": randomUUID(),
    "ce-type": type,
    "ce-source": `${issuer}/events/v2beta1/subscriptions`,
    "ce-time": new Date(time).toISOString(),
    "ce-subject": uid,
    "ce-group": parent,
    "ce-audience": "customer",
  };
  const data = JSON.stringify({ actor: { subject: actor, act: actorClaims }, body: { subscriptionUid: uid } });
  return { subscriptionUid: uid, sequence: null, headers, data };
}
