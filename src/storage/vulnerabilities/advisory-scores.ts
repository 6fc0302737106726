// Fills in the scores of advisories that were stored without them. Not in the change log: no response shows the columns themselves.
import { limitOf, placeholders } from "../engine/placeholders.ts";
import type { Transaction } from "../engine/session.ts";
import { and, asc, eq, isNull, sql } from "../schema/drizzle.ts";
import type { AdvisoryRow } from "./rows.ts";

/** Returns advisories without a score, with the first publication that their records name. */
export async function findUnscored(
  tx: Transaction,
  limit: number,
): Promise<Pick<AdvisoryRow, "uid" | "severities" | "publishTime" | "createTime">[]> {
  const statement = tx.prepared("advisories.unscored", (db, tables) => {
    const { advisories, advisoryRecords: records, advisoryRecordLinks: links } = tables;
    const published = db
      .select({ time: sql<number>`min(${records.publishTime})` })
      .from(links)
      .innerJoin(records, eq(records.id, links.recordId))
      .where(and(eq(links.advisoryUid, advisories.uid), isNull(records.withdrawTime)));
    return db
      .select({
        uid: advisories.uid,
        severities: advisories.severities,
        publishTime: sql<number | null>`(${published})`.mapWith(advisories.publishTime),
        createTime: advisories.createTime,
      })
      .from(advisories)
      .where(isNull(advisories.score))
      .orderBy(asc(advisories.uid))
      .limit(limitOf("limit"));
  });
  return await statement.execute({ limit });
}

/** Stores the score of an advisory, unless a write has done so since. */
export async function fillScore(
  tx: Transaction,
  uid: string,
  columns: { readonly score: number; readonly publishTime: number },
): Promise<void> {
  const statement = tx.prepared("advisories.fill_score", (db, { advisories }) =>
    db
      .update(advisories)
      .set(placeholders(["score", "publishTime"]))
      .where(and(eq(advisories.uid, sql.placeholder("uid")), isNull(advisories.score))),
  );
  await statement.execute({ uid, ...columns });
}
