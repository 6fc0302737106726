// Finds who created resources, by the change log.
import { limitOf, numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, asc, eq, gte, lt, sql } from "../schema/drizzle.ts";
import { isCreation, lastChange, wantedKind } from "./change-log.ts";

/** How far the clocks of servers, and the order of commits, may differ from the order of the change log, in milliseconds. */
const slackMs = 10_000;

/** Resources of a kind that were created in a period. */
export interface Created {
  readonly kind: string;
  readonly uids: readonly string[];
  /** The first and the last creation, in milliseconds since the epoch. */
  readonly firstTime: number;
  readonly lastTime: number;
}

/** Returns the makers of resources by uid; empty for the installation itself. Those are missing whose creation is not in the change log. */
export async function findMakers(session: Session, created: Created): Promise<ReadonlyMap<string, string>> {
  const { kind, uids, firstTime, lastTime } = created;
  const statement = session.prepared("changes.makers", (db, { changes }) =>
    db
      .select({ uid: changes.uid, actor: changes.actor })
      .from(changes)
      .where(
        and(
          eq(changes.kind, wantedKind),
          gte(changes.sequence, numberPlaceholder("from")),
          lt(changes.sequence, numberPlaceholder("to")),
          sql`${changes.uid} in (select value from ${session.textsOf(textPlaceholder("uids"))})`,
          isCreation(changes),
        ),
      ),
  );
  const from = await sequenceAt(session, firstTime - slackMs);
  const to = await sequenceAt(session, lastTime + slackMs);
  const found = await statement.execute({ kind, from, to, uids: JSON.stringify(uids) });
  return new Map(found.map(({ uid, actor }) => [uid, actor]));
}

/** Returns the sequence number from which changes were made at a time or later. The log has no index by time: searches by halves. */
async function sequenceAt(session: Session, time: number): Promise<number> {
  const statement = session.prepared("changes.next", (db, { changes }) =>
    db
      .select({ sequence: changes.sequence, time: changes.time })
      .from(changes)
      .where(gte(changes.sequence, numberPlaceholder("from")))
      .orderBy(asc(changes.sequence))
      .limit(limitOf(1)),
  );
  let low = 0;
  let high = (await lastChange(session)) + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [next] = await statement.execute({ from: middle });
    if (next && next.time < time) low = next.sequence + 1;
    else high = middle;
  }
  return low;
}
