// Sums up in memory what happens, by group, metric and day. Each process writes its sums every few seconds and when it ends.
import { inPortions } from "../../base/portions.ts";
import { ancestorsOf, rootOf } from "../../model/uid.ts";
import type { Database } from "../../storage/database.ts";
import type { WriteContext } from "../../storage/engine/session.ts";
import { addDailyCounts, compareCounts, type DailyCount } from "../../storage/statistics/daily-counts.ts";
import { dayOf } from "./days.ts";
import type { MetricName } from "./metrics.ts";

/** A count that is not stored yet. */
type Sum = { -readonly [K in keyof DailyCount]: DailyCount[K] };

/** The sums of one process. */
export class DailyTally {
  readonly #maxSums: number;
  #sums = new Map<string, Sum>();

  /** Beyond `maxSums` different sums, events count for their organization only. */
  constructor(maxSums: number) {
    this.#maxSums = maxSums;
  }

  /** Counts an event of some groups once in each of them, and once in each of their ancestors. */
  count(metric: MetricName, groupUids: readonly string[], time: number): void {
    const day = dayOf(time);
    const uids = new Set(groupUids.flatMap((uid) => [...ancestorsOf(uid), uid]));
    for (const groupUid of uids) this.#add({ groupUid, metric, day, count: 1 });
  }

  #add({ count, ...key }: DailyCount): void {
    const text = `${key.groupUid} ${key.metric} ${key.day}`;
    const known = this.#sums.get(text);
    if (known) known.count += count;
    else if (this.#sums.size < this.#maxSums || key.groupUid === rootOf(key.groupUid))
      this.#sums.set(text, { ...key, count });
  }

  /** Returns the sums in the order of their keys, and empties the tally. */
  take(): DailyCount[] {
    const taken = [...this.#sums.values()].sort(compareCounts);
    this.#sums = new Map();
    return taken;
  }

  /** Adds sums that could not be stored. */
  putBack(sums: readonly DailyCount[]): void {
    for (const sum of sums) this.#add(sum);
  }
}

/** How many sums a transaction stores. */
const batchSize = 200;

/** Stores the sums. Rejects, and keeps what is not stored, if a write fails. */
export async function storeTally(
  tally: DailyTally,
  database: Pick<Database, "write">,
  newWrite: () => WriteContext,
): Promise<void> {
  await inPortions(
    tally.take(),
    batchSize,
    (sums) => database.write(newWrite(), (tx) => addDailyCounts(tx, sums)),
    (rest) => tally.putBack(rest),
  );
}
