// Which metrics an event counts for.
import type { AccessDetails, AccessKind } from "../../storage/change-log/access-entries.ts";
import type { Change, Collection } from "../../storage/collection/collection.ts";
import type { ChangeEntry } from "../../storage/engine/session.ts";
import { kinds, listCapabilities } from "../resources.ts";
import type { DailyTally } from "./daily-tally.ts";
import type { MetricName } from "./metrics.ts";

/** An access event, before the audit log aggregates it. */
interface AccessEvent {
  readonly kind: AccessKind;
  readonly groupUids: readonly string[];
  readonly details: Pick<AccessDetails, "outcome">;
}

const accessMetrics: Readonly<Record<string, MetricName>> = {
  "sign_ins allowed": "sign_ins",
  "sign_ins denied": "sign_ins_failed",
  "token_exchanges allowed": "exchanges",
  "token_exchanges denied": "exchanges_failed",
  "denials denied": "denials",
};

/** Counts a sign-in, an exchange or a denial. */
export function countAccess(tally: DailyTally, { kind, groupUids, details }: AccessEvent, time: number): void {
  const metric = accessMetrics[`${kind} ${details.outcome}`];
  if (metric) tally.count(metric, groupUids, time);
}

/** The changes of rows that can change permissions, by kind. */
const accessChanges: ReadonlyMap<string, readonly Change[]> = new Map(
  kinds.map(({ collection: { kind, ...rest } }) => [kind, (rest as Partial<Collection<never>>).changesAccess ?? []]),
);

/** Counts the committed changes of resources. Entries of other kinds, such as denials, change none. */
export function countChanges(tally: DailyTally, changes: readonly ChangeEntry[], time: number): void {
  for (const { kind, groupUid, before, after } of changes) {
    if (!listCapabilities.has(kind)) continue;
    tally.count("changes", [groupUid], time);
    const change = before === null ? "insert" : after === null ? "delete" : "update";
    if (accessChanges.get(kind)?.includes(change)) tally.count("access_changes", [groupUid], time);
  }
}

const deliveryMetrics: Readonly<Record<string, MetricName>> = {
  delivered: "deliveries",
  failed: "deliveries_failed",
  refused: "deliveries_failed",
};

/** Counts an attempt to deliver an event of a subscription. */
export function countDelivery(tally: DailyTally, outcome: string, groupUid: string, time: number): void {
  const metric = deliveryMetrics[outcome];
  if (metric) tally.count(metric, [groupUid], time);
}
