// The columns by which advisories are sorted and counted by severity.
import { highestScore } from "../../../advisories/cvss.ts";
import type { Database } from "../../../storage/database.ts";
import type { WriteContext } from "../../../storage/engine/session.ts";
import { fillScore, findUnscored } from "../../../storage/vulnerabilities/advisory-scores.ts";
import type { AdvisoryRow } from "../../../storage/vulnerabilities/rows.ts";

type ScoreColumns = { readonly [C in "score" | "publishTime"]: number };

/** Returns the score of an advisory and the time of its publication, which is its creation if no source says another. */
export function scoreColumns({
  severities,
  publishTime,
  createTime,
}: Pick<AdvisoryRow, "severities" | "publishTime" | "createTime">): ScoreColumns {
  return { score: highestScore(severities.map(({ score }) => score)), publishTime: publishTime ?? createTime };
}

/** How many advisories a transaction fills in. */
const batchSize = 200;

/**
 * Fills in the scores of advisories that releases without scores have written, in batches. Begins none once the signal is aborted. Costs
 * one look at an empty index if there are none. Several servers may do it at the same time.
 */
export async function fillScores(
  database: Pick<Database, "write">,
  context: WriteContext,
  signal: AbortSignal,
): Promise<void> {
  let isDone = false;
  while (!isDone && !signal.aborted)
    isDone = await database.write(context, async (tx) => {
      const found = await findUnscored(tx, batchSize);
      for (const row of found) await fillScore(tx, row.uid, scoreColumns(row));
      return found.length < batchSize;
    });
}
