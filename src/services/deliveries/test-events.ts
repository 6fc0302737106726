// Sends test events.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DeliveryAttemptSchema, SendTestEventRequest } from "../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { rateLimited } from "../../aip/errors.ts";
import { rootOf } from "../../model/uid.ts";
import type { Call } from "../../pipeline/call.ts";
import { type ServiceContext, writeContext } from "../../resource/service-context.ts";
import type { Transaction, WriteContext } from "../../storage/engine/session.ts";
import { addAttempt, type NewAttempt } from "../../storage/events/delivery-attempts.ts";
import type { SubscriptionRow } from "../../storage/events/rows.ts";
import { lockSubscriptions } from "../../storage/events/subscribers.ts";
import { readSettings, type SettingsRow, writeSettings } from "../../storage/events/subscription-settings.ts";
import { type RecordedTest, testEventKind } from "../events/subscriptions/recorded.ts";
import { findSubscription } from "../events/subscriptions/subscriptions.ts";
import { requireInForce } from "../iam/delegations/inactive-delegations.ts";
import { shownAttempt } from "./delivery-states.ts";

const limits = {
  /** How many test events a subscription has in a minute. */
  perMinute: 10,
  minuteMs: 60_000,
  /** How many test events of one organization this process sends at the same time. */
  atOnce: 4,
} as const;

/** The type of test events. */
export const testEventType = "gatehouse.events.test.v1";

/** The author of a test event. */
export type TestActor = Pick<WriteContext, "actor" | "actorClaims">;

/** The sending of test events. */
export interface TestSending {
  /** Makes one attempt to send a test event, and returns it as it is stored. Never rejects because of what the sink does. */
  readonly sendTest: (to: SubscriptionRow, type: string, by: TestActor) => Promise<NewAttempt>;
}

/** Returns the method that sends a test event. */
export function sendTestEvent({ database, clock, sendTest }: ServiceContext & TestSending) {
  const running = new Map<string, number>();

  async function send(subscription: SubscriptionRow, call: Call): Promise<NewAttempt> {
    const organization = rootOf(subscription.uid);
    running.set(organization, (running.get(organization) ?? 0) + 1);
    try {
      return await sendTest(subscription, testEventType, writeContext(call, clock));
    } finally {
      const others = running.get(organization)! - 1;
      if (others === 0) running.delete(organization);
      else running.set(organization, others);
    }
  }

  return async (
    { subscriptionUid }: SendTestEventRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof DeliveryAttemptSchema>> => {
    if ((running.get(rootOf(subscriptionUid)) ?? 0) >= limits.atOnce)
      throw rateLimited(`${limits.atOnce} test events of the organization are being sent; try again in a while`, 1000);
    const subscription = await database.write(writeContext(call, clock), (tx) => recordTest(tx, subscriptionUid));
    const attempt = await send(subscription, call);
    await database.write(writeContext(call, clock), (tx) => addAttempt(tx, attempt));
    return shownAttempt(attempt);
  };
}

/** Counts a test event and writes it to the audit log. Throws if it must not be sent. */
async function recordTest(tx: Transaction, uid: string): Promise<SubscriptionRow> {
  await lockSubscriptions(tx, [uid]);
  const subscription = await findSubscription(tx, uid);
  await requireInForce(tx, "subscriptions", uid);
  await writeSettings(tx, counted(await readSettings(tx, uid), tx.context.time));
  const after: RecordedTest = { sink: subscription.sink };
  tx.logChange({ kind: testEventKind, uid, groupUid: subscription.parent, before: null, after });
  return subscription;
}

/** Returns settings that count one more test event. The count is stored: the limit holds for all servers together. */
function counted(settings: SettingsRow, now: number): SettingsRow {
  const { testTime, testEvents } = settings;
  const leftMs = testTime + limits.minuteMs - now;
  // The clock may have been set back.
  if (leftMs <= 0 || testTime > now) return { ...settings, testTime: now, testEvents: 1 };
  if (testEvents >= limits.perMinute)
    throw rateLimited(`a subscription has ${limits.perMinute} test events per minute; try again later`, leftMs);
  return { ...settings, testEvents: testEvents + 1 };
}
