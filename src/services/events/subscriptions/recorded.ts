// The records of subscriptions in the audit log, besides those of the published resource.
import { create, type JsonObject, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { SubscriptionSettingsSchema } from "../../../../gen/gatehouse/events/v1/delivery_pb.ts";
import type { RowView } from "../../../resource/row-view.ts";
import { eventForm } from "../../../resource/sentence-form.ts";
import type { SubscriptionRow } from "../../../storage/events/rows.ts";
import { type SubscriptionSettings, settingsKind } from "../../../storage/events/subscription-settings.ts";

/** The kinds of the entries for test events and redeliveries. */
export const [testEventKind, redeliveryKind] = ["test_events", "redeliveries"] as const;

/** The content of the entry for a test event. */
export interface RecordedTest {
  readonly sink: string;
}

/** The content of the entry for a redelivery. */
export interface RecordedRedelivery {
  readonly eventIds: readonly string[];
}

/** Returns the settings of a subscription. */
export function settingsMessage(
  { uid, sink }: Pick<SubscriptionRow, "uid" | "sink">,
  { isPaused: paused, kinds, description }: SubscriptionSettings,
): MessageInitShape<typeof SubscriptionSettingsSchema> {
  return { uid, sink, paused, kinds: [...kinds], description };
}

/** The views of settings, test events and redeliveries. A changed sink is a change of the subscription. */
export const subscriptionViews: readonly RowView[] = [
  {
    kind: settingsKind,
    show(row) {
      const { isPaused: paused, kinds, description } = row as SubscriptionSettings;
      const settings = create(SubscriptionSettingsSchema, { paused, kinds: [...kinds], description });
      return toJson(SubscriptionSettingsSchema, settings) as JsonObject;
    },
    sentence: eventForm("changed"),
  },
  { kind: testEventKind, show: (row) => ({ ...(row as RecordedTest) }), sentence: eventForm("sent") },
  {
    kind: redeliveryKind,
    show: (row) => ({ eventIds: [...(row as RecordedRedelivery).eventIds] }),
    sentence: eventForm("sent"),
  },
];
