// A subscription for the development server.
import { insertRow } from "../../storage/collection.ts";
import type { Transaction } from "../../storage/session.ts";
import { newChild } from "../../uid.ts";
import { subscriptionCollection } from "./rows.ts";

/** Adds a subscription of a group under a reserved name, where nothing listens. */
export async function insertSampleSubscription(tx: Transaction, parent: string): Promise<void> {
  const sink = "https://hooks.example.org/gatehouse";
  await insertRow(tx, subscriptionCollection, { uid: newChild(parent), parent, sink, createTime: tx.context.time });
}
