import { lockRow } from "../../../storage/collection/rows.ts";
import { readCounter } from "../../../storage/engine/counters.ts";
import { type SubscriptionRow, subscriptionCollection } from "../../../storage/events/rows.ts";
import { groupCollection } from "../../../storage/iam/collections.ts";
import { childrenKey } from "../../../storage/schema/entry-keys.ts";
import { inGroup } from "../../kinds/import-checks.ts";
import { type ImportKind, importKind, type Transfer } from "../../kinds/import-kind.ts";
import { maxOfGroup, subscriptionResource } from "./subscriptions.ts";

/** The import of subscriptions. */
export const subscriptionImport: Transfer = {
  name: "subscription",
  declare(context) {
    const subscription = subscriptionResource(context);
    return importKind({
      ...inGroup,
      resource: subscription,
      // Their number is limited.
      isIndependent: () => false,
      toRow: (message, { uid, parent, createTime }) => ({
        ...subscription.toRow(message),
        uid,
        parent: parent!,
        createTime,
      }),
      async check(session, { parent }, before) {
        if (before || (await readCounter(session, childrenKey(parent), subscriptionCollection.kind)) < maxOfGroup)
          return [];
        return [{ field: "uid", description: `is one of more than ${maxOfGroup} subscriptions of its group` }];
      },
      prepare: async (tx, { parent }) => void (await lockRow(tx, groupCollection, parent)),
    } satisfies ImportKind<typeof subscription.schema, SubscriptionRow>);
  },
};
