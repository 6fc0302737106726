// Stores when identities used their access last. The change log has no entries of it.
import type { SQL, SQLWrapper } from "drizzle-orm";
import { dayMs } from "../../base/clock.ts";
import { limitOf, numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import { recordingIn } from "../engine/recording.ts";
import type { Transaction } from "../engine/session.ts";
import { asc, lte, sql } from "../schema/drizzle.ts";
import { effectiveGroup } from "./grants.ts";

/** The days on which an identity used capabilities last by its roles at a group. */
export interface StoredUse {
  readonly identityUid: string;
  readonly groupUid: string;
  /** The number of a capability, and the day: days since the epoch, in UTC. */
  readonly days: ReadonlyMap<number, number>;
}

/** Adds to the uses of existing identities and groups. Callers sort by both: concurrent transactions then do not deadlock. */
export async function storeUses(tx: Transaction, uses: readonly StoredUse[]): Promise<void> {
  const statement = tx.prepared("access_usage.add", (db, { accessUsage, identities, groups }) => {
    const [identityUid, groupUid] = [textPlaceholder("identityUid"), textPlaceholder("groupUid")];
    const values = [identityUid, groupUid, textPlaceholder("days"), numberPlaceholder("lastTime"), sql`0`];
    const all = sql`select key, cast(value as bigint) as day from ${tx.membersOf(accessUsage.days)} as stored
      union all select key, cast(value as bigint) from ${tx.membersOf(sql`excluded.days`)} as added`;
    const latest = sql`select key, max(day) as day from (${all}) as days group by key`;
    return (
      db
        .insert(accessUsage)
        // Both may be deleted by now.
        .select(
          sql`select ${sql.join(values, sql`, `)} from ${identities}, ${groups}
            where ${identities.uid} = ${identityUid} and ${groups.uid} = ${groupUid}`,
        )
        .onConflictDoUpdate({
          target: [accessUsage.identityUid, accessUsage.groupUid],
          set: {
            // Another process may have stored other capabilities, or a later day.
            days: sql`(select '{' || string_agg('"' || key || '":' || day, ',') || '}' from (${latest}) as merged)`,
            lastTime: laterOf(accessUsage.lastTime, sql`excluded.last_time`),
          },
        })
    );
  });
  const rows = uses.map(({ days, ...key }) => ({
    ...key,
    days: JSON.stringify(Object.fromEntries(days)),
    lastTime: dayMs * Math.max(...days.values()),
  }));
  if (tx.isRemote) await Promise.all(rows.map((row) => statement.execute(row)));
  else for (const row of rows) await statement.execute(row);
}

/** Notes that a role binding is not as old as its creation time: it was changed, or comes from another installation. */
export async function noteBinding(
  tx: Transaction,
  { identityUid, parent }: { readonly identityUid: string; readonly parent: string },
): Promise<void> {
  const groupUid = effectiveGroup(identityUid, parent);
  if (groupUid === undefined) return;
  const statement = tx.prepared("access_usage.note_binding", (db, { accessUsage }) =>
    db
      .insert(accessUsage)
      .values({
        identityUid: sql.placeholder("identityUid"),
        groupUid: sql.placeholder("groupUid"),
        days: "{}",
        lastTime: sql.placeholder("bindTime"),
        bindTime: sql.placeholder("bindTime"),
      })
      .onConflictDoUpdate({
        target: [accessUsage.identityUid, accessUsage.groupUid],
        set: { bindTime: sql`excluded.bind_time`, lastTime: laterOf(accessUsage.lastTime, sql`excluded.last_time`) },
      }),
  );
  const { time } = tx.context;
  await statement.execute({ identityUid, groupUid, bindTime: time });
}

function laterOf(a: SQLWrapper, b: SQLWrapper): SQL {
  return sql`case when ${a} > ${b} then ${a} else ${b} end`;
}

/** Deletes rows whose last day began at or before a time, up to `batchSize`. Returns whether none are left. */
export async function removeAccessUsage(tx: Transaction, time: number, batchSize: number): Promise<boolean> {
  const statement = tx.prepared("access_usage.sweep", (db, { accessUsage }) => {
    const { identityUid, groupUid, lastTime } = accessUsage;
    const old = db
      .select({ identityUid, groupUid })
      .from(accessUsage)
      .where(lte(lastTime, numberPlaceholder("time")))
      .orderBy(asc(lastTime))
      .limit(limitOf("batchSize"));
    return db.delete(accessUsage).where(sql`(${identityUid}, ${groupUid}) in (${old})`).returning({ lastTime });
  });
  return (await statement.execute({ time, batchSize })).length < batchSize;
}

/** The recording of uses. */
export const accessRecording = recordingIn("access_usage_recording");
