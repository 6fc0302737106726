// Changes the settings of subscriptions that the published API lacks, and their sinks.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type DeliveryStateSchema,
  SubscriptionSettingsSchema,
  type UpdateSubscriptionSettingsRequest,
} from "../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { invalidField } from "../../aip/errors.ts";
import { applyMask } from "../../aip/field-mask.ts";
import type { Call } from "../../pipeline/call.ts";
import { descriptionRule, type MessageRules } from "../../pipeline/text-rules.ts";
import { requestMask } from "../../resource/apply-update.ts";
import { type ServiceContext, writeContext } from "../../resource/service-context.ts";
import { updateRow } from "../../storage/collection/rows.ts";
import type { Transaction } from "../../storage/engine/session.ts";
import { retryQueue } from "../../storage/events/delivery-queues.ts";
import { subscriptionCollection } from "../../storage/events/rows.ts";
import { lockSubscriptions } from "../../storage/events/subscribers.ts";
import {
  readSettings,
  type SettingsRow,
  type SubscriptionSettings,
  settingsKind,
  writeSettings,
} from "../../storage/events/subscription-settings.ts";
import { settingsMessage } from "../events/subscriptions/recorded.ts";
import { findSubscription, sinkRule } from "../events/subscriptions/subscriptions.ts";
import { stateOf } from "./delivery-states.ts";
import { newEventKinds } from "./event-kinds.ts";

/** The most kinds that a subscription is restricted to. */
const maxKinds = 20;

/** Returns the rules of settings. */
export function settingsRules(context: ServiceContext): MessageRules {
  return {
    schema: SubscriptionSettingsSchema,
    fields: { sink: sinkRule(context), kinds: kindRule(context), description: descriptionRule },
    bounds: { kinds: { maxItems: maxKinds } },
  };
}

function kindRule(context: ServiceContext) {
  const kinds = newEventKinds(context);
  return {
    test: (text: string) => kinds.all().includes(text),
    get description() {
      return `must be one of ${kinds.all().join(", ")}`;
    },
  };
}

/** Returns the method that changes settings. */
export function updateSettings({ database, clock }: ServiceContext) {
  return async (
    { settings: value, updateMask }: UpdateSubscriptionSettingsRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof DeliveryStateSchema>> => {
    const mask = requestMask(SubscriptionSettingsSchema, value!, updateMask);
    if (value!.kinds.length > maxKinds) throw invalidField("kinds", `must not have more than ${maxKinds} items`);
    const { uid } = value!;
    return await database.write(writeContext(call, clock), async (tx) => {
      await lockSubscriptions(tx, [uid]);
      const row = await findSubscription(tx, uid);
      const before = await readSettings(tx, uid);
      const wanted = create(SubscriptionSettingsSchema, settingsMessage(row, before));
      applyMask(SubscriptionSettingsSchema, wanted, value!, mask);
      const { sink, paused: isPaused = false, description } = wanted;
      // The caller then vouches for the subscription.
      if (sink !== row.sink) await updateRow(tx, subscriptionCollection, row, { ...row, sink });
      await setSettings(tx, row.parent, before, { isPaused, kinds: [...new Set(wanted.kinds)], description });
      if (sink !== row.sink || (before.isPaused && !isPaused)) await retryQueue(tx, uid);
      return await stateOf(tx, uid);
    });
  };
}

/** Stores settings and logs the change. Dropped events are counted from each pause on. */
export async function setSettings(
  tx: Transaction,
  groupUid: string,
  before: SettingsRow,
  settings: SubscriptionSettings,
): Promise<void> {
  const { uid, isPaused, kinds, description } = before;
  const known = { isPaused, kinds, description };
  if (JSON.stringify(known) === JSON.stringify(settings)) return;
  const counts = settings.isPaused === isPaused ? {} : { droppedEvents: 0, lastDropTime: null };
  await writeSettings(tx, { ...before, ...settings, ...counts });
  tx.logChange({ kind: settingsKind, uid, groupUid, before: known, after: settings });
}
