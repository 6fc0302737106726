// Imports whether subscriptions are paused, their kinds and descriptions.
import { isDeepStrictEqual } from "node:util";
import { type SubscriptionSettings, SubscriptionSettingsSchema } from "../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { ImportOutcome } from "../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { findRow } from "../../storage/collection/rows.ts";
import { subscriptionCollection } from "../../storage/events/rows.ts";
import { lockSubscriptions } from "../../storage/events/subscribers.ts";
import { readSettings, type SettingsRow } from "../../storage/events/subscription-settings.ts";
import { type Importer, importBy, missing, rejected, type Transfer } from "../kinds/import-kind.ts";
import { setSettings, settingsRules } from "./subscription-settings.ts";

/** The import of settings, each of which comes after its subscription. */
export const settingsImport: Transfer = {
  name: "subscriptionSettings",
  declare: (context) => importBy(settingsImporter(context)),
};

function settingsImporter(context: ServiceContext): Importer<SubscriptionSettings> {
  return {
    schema: SubscriptionSettingsSchema,
    messageRules: [settingsRules(context)],
    references: () => [],
    async run(session, { uid, paused = false, kinds, description }, { tx, isShared }) {
      // The row of the settings may not exist yet: that of the subscription is locked.
      if (isShared) return undefined;
      if (tx) await lockSubscriptions(tx, [uid]);
      const row = await findRow(session, subscriptionCollection, uid);
      if (!row) return rejected([missing("uid", "a subscription", uid)]);
      const before = await readSettings(session, uid);
      const after = { isPaused: paused, kinds: [...new Set(kinds)], description };
      const changes = changesOf(before, after);
      if (changes.length === 0) return { outcome: ImportOutcome.UNCHANGED };
      if (tx) await setSettings(tx, row.parent, before, after);
      const isNew = !before.isPaused && before.kinds.length === 0 && before.description === "";
      return isNew ? { outcome: ImportOutcome.CREATED } : { outcome: ImportOutcome.UPDATED, changes };
    },
  };
}

/** The fields, by their columns. */
const fields = { isPaused: "paused", kinds: "kinds", description: "description" } as const;
type Columns = Pick<SettingsRow, keyof typeof fields>;

function changesOf(before: Columns, after: Columns) {
  return (Object.keys(fields) as (keyof Columns)[])
    .filter((column) => !isDeepStrictEqual(before[column], after[column]))
    .map((column) => ({
      field: fields[column],
      oldValue: JSON.stringify(before[column]),
      newValue: JSON.stringify(after[column]),
    }));
}
