// Serves the delivery queues of subscriptions: their state and settings, attempts, retries, tests and redeliveries.
import {
  CheckSinkRequestSchema,
  DeliveryService,
  GetAttemptRequestSchema,
  GetDeliveryStateRequestSchema,
  RedeliverRequestSchema,
  RetryDeliveryRequestSchema,
  SendTestEventRequestSchema,
} from "../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { expensive } from "../../pipeline/expensive.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import { uidRule } from "../../pipeline/text-rules.ts";
import { type ServiceContext, writeContext } from "../../resource/service-context.ts";
import { retryQueue } from "../../storage/events/delivery-queues.ts";
import type { Encryption } from "../../storage/installation/encryption.ts";
import { sinkRule } from "../events/subscriptions/subscriptions.ts";
import { getAttempt } from "./attempts.ts";
import { listStates, stateOf } from "./delivery-states.ts";
import { redeliver, redeliveryRules } from "./redelivery.ts";
import { settingsRules, updateSettings } from "./subscription-settings.ts";
import { sendTestEvent, type TestSending } from "./test-events.ts";

/** The dependencies of the delivery service. */
export interface DeliveryServiceContext extends ServiceContext, TestSending {
  /** Returns why nothing can be sent to a sink now; undefined if nothing stands in its way. */
  readonly sinkProblem: (sink: string) => Promise<string | undefined>;
  /** Decrypts what was sent and answered. */
  readonly encryption: Encryption;
}

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
          await retryQueue(tx, subscriptionUid);
          return await stateOf(tx, subscriptionUid);
        });
      },
      getAttempt: getAttempt(context),
      sendTestEvent: sendTestEvent(context),
      redeliver: redeliver(context),
      updateSubscriptionSettings: updateSettings(context),
      checkSink: async ({ sink }) => ({ problem: (await sinkProblem(sink)) ?? "" }),
    },
    [
      ...[GetDeliveryStateRequestSchema, RetryDeliveryRequestSchema, SendTestEventRequestSchema].map((schema) => ({
        schema,
        fields: { subscription_uid: uidRule },
      })),
      { schema: GetAttemptRequestSchema, fields: { uid: uidRule } },
      { schema: RedeliverRequestSchema, ...redeliveryRules },
      settingsRules(context),
      { schema: CheckSinkRequestSchema, fields: { parent: uidRule, sink: sinkRule(context) } },
    ],
  );
}
