// A sample subscription for the development server.

import { newChild } from "../../../model/uid.ts";
import { insertRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { subscriptionCollection } from "../../../storage/events/rows.ts";

/** Adds a subscription of a group with a sink at a reserved name, where nothing listens. */
export async function insertSampleSubscription(tx: Transaction, parent: string): Promise<void> {
  const sink = "https://hooks.example.org/gatehouse";
  await insertRow(tx, subscriptionCollection, { uid: newChild(parent), parent, sink, createTime: tx.context.time });
}
