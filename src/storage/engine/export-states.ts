// The export state of a group: a random text that changes with every transaction that changes an advisory in the
// subtree of the group, or a record of one. While the text stays the same, so does the export (docs/design/advisory-feeds.md).

import type { SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { systemClock } from "../../base/clock.ts";
import { randomHex } from "../../base/random.ts";
import { eq, sql } from "../schema/drizzle.ts";
import type { Session, Transaction } from "./session.ts";

/** The age from which the time of a state is final: no transaction takes longer to commit. */
export const settledMs = 60_000;

/** The export state of a group. */
export interface ExportState {
  /** Empty before the first change. */
  readonly state: string;
  /** The time of the last change, in milliseconds since the epoch; 0 before the first change. */
  readonly changeTime: number;
}

/** Changes the states of these groups. Call it in commit order. */
export async function changeExportStates(session: Session, groupUids: Iterable<string>): Promise<void> {
  const state = randomHex(8);
  const statement = session.prepared("export_states.change", (db, { exportStates }) =>
    db
      .insert(exportStates)
      .values({
        groupUid: sql.placeholder("groupUid"),
        state: sql.placeholder("state"),
        changeTime: sql.placeholder("changeTime"),
      })
      .onConflictDoUpdate({
        target: exportStates.groupUid,
        set: { state: sql`excluded.state`, changeTime: laterTime(exportStates.changeTime) },
      }),
  );
  // The time of the transaction is that of the request, which may be long ago. Later changes must not look earlier.
  const changeTime = systemClock();
  await Promise.all([...groupUids].map((groupUid) => statement.execute({ groupUid, state, changeTime })));
}

/**
 * Returns the time of a change: the clock, unless it was set back since the last change. HTTP compares whole seconds, and times of the
 * last minute are not shown (settledMs).
 */
function laterTime(known: PgColumn): SQL {
  const next = sql`excluded.change_time`;
  return sql`case when ${next} > ${known} then ${next} when ${next} > ${known} - ${sql.raw(String(settledMs))} then ${known}
    else ${known} + 1000 end`;
}

/** Returns the export state of a group, including its descendants. */
export async function readExportState(session: Session, groupUid: string): Promise<ExportState> {
  const statement = session.prepared("export_states.get", (db, { exportStates }) =>
    db
      .select({ state: exportStates.state, changeTime: exportStates.changeTime })
      .from(exportStates)
      .where(eq(exportStates.groupUid, sql.placeholder("groupUid"))),
  );
  return (await statement.execute({ groupUid }))[0] ?? { state: "", changeTime: 0 };
}

/** Deletes the state of a deleted group. */
export async function clearExportState(tx: Transaction, groupUid: string): Promise<void> {
  tx.pendingExports?.delete(groupUid);
  const statement = tx.prepared("export_states.clear", (db, { exportStates }) =>
    db.delete(exportStates).where(eq(exportStates.groupUid, sql.placeholder("groupUid"))),
  );
  await statement.execute({ groupUid });
}
