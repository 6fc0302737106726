import type { Collection, ResourceRow } from "../collection/collection.ts";
import { keepSubscriptionVoucher } from "../iam/vouchers.ts";

/** A subscription as it is stored. */
export interface SubscriptionRow extends ResourceRow {
  readonly parent: string;
  readonly sink: string;
}

export const subscriptionCollection: Collection<SubscriptionRow> = {
  kind: "subscriptions",
  rows: (tables) => tables.subscriptions,
  entries: (tables) => tables.subscriptionEntries,
  changesAccess: [],
  syncDependents: keepSubscriptionVoucher,
};
