// Counts advisories by group and severity.
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, asc, gt, inArray, sql } from "../schema/drizzle.ts";

/** The lowest score of each severity, in tenths (CVSS 3.1, section 5), from the highest on. */
const severities = { critical: 90, high: 70, medium: 40, low: 1 } as const;

/** A severity. */
export type SeverityName = keyof typeof severities;

/** The advisories of a group without its subgroups, by severity. */
export type SeverityCounts = Readonly<Record<SeverityName, number>> & { readonly groupUid: string };

/**
 * Returns the counts of up to `limit` groups after a uid, in order, for advisories with these statuses and a score. Always the same
 * statuses: they are part of the statement. Reads one range of the index by status and score.
 */
export async function countBySeverity(
  session: Session,
  statuses: readonly number[],
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<SeverityCounts[]> {
  const statement = session.prepared("advisories.count_by_severity", (db, { advisories }) => {
    const { parent, latestEventType, score } = advisories;
    const countFrom = (least: number, below: number) =>
      sql`sum(case when ${score} >= ${sql.raw(String(least))} and ${score} < ${sql.raw(String(below))} then 1 else 0 end)`.mapWith(
        Number,
      );
    return db
      .select({
        groupUid: parent,
        critical: countFrom(severities.critical, 1000),
        high: countFrom(severities.high, severities.critical),
        medium: countFrom(severities.medium, severities.high),
        low: countFrom(severities.low, severities.medium),
      })
      .from(advisories)
      .where(and(gt(parent, textPlaceholder("after")), inArray(latestEventType, [...statuses]), gt(score, 0)))
      .groupBy(parent)
      .orderBy(asc(parent))
      .limit(limitOf("limit"));
  });
  return await statement.execute({ after, limit });
}
