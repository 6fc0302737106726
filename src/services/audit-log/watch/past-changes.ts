// Reads pages of the change log for streams that are behind what the reader keeps.
import { endOfLog, findChanges, type LogPosition, readHistory } from "../../../storage/change-log/history.ts";
import { hasAllAfter } from "../../../storage/change-log/removal.ts";
import type { Database } from "../../../storage/database.ts";
import type { Session } from "../../../storage/engine/session.ts";
import type { ChangeCursors } from "../change-cursors.ts";
import type { ChangeFilter } from "../change-filter.ts";
import { changeNotKept } from "../follow-position.ts";
import type { WatchedBatch } from "./change-feed.ts";
import { watchLimits } from "./limits.ts";
import { toWatchedChange, type WatchedChange } from "./watched-change.ts";

/** Reads changes of an organization behind a position. Throws CHANGE_NOT_KEPT if the log lacks some of them. */
export async function readPastChanges(
  database: Pick<Database, "read" | "accessEpoch">,
  cursors: ChangeCursors,
  organization: string,
  filter: ChangeFilter,
  position: LogPosition,
): Promise<WatchedBatch> {
  const page = await database.read(async (session) => {
    if (!(await hasAllAfter(session, position))) throw changeNotKept();
    const end = await endOfLog(session);
    const limit = watchLimits.entriesPerLook;
    const { withContent } = filter;
    const heads = await readHistory(session, {
      organization,
      isFollowed: true,
      after: position.sequence,
      limit,
      withContent,
    });
    const matching = heads.filter((head) => filter.matches(head));
    const found = await readFitting(session, matching.slice(0, watchLimits.changesPerResponse), cursors);
    const last = found.length < matching.length ? found.at(-1)!.head : heads.at(-1);
    const isWhole = found.length === matching.length && heads.length < limit;
    return { found, to: isWhole ? end : last!, hasMore: true };
  });
  // Read after the changes: see change-reader.ts.
  return { ...page, epoch: await database.accessEpoch.latest() };
}

/** Reads as many changes as fit into a response. */
async function readFitting(
  session: Session,
  wanted: readonly LogPosition[],
  cursors: ChangeCursors,
): Promise<WatchedChange[]> {
  const found: WatchedChange[] = [];
  let length = 0;
  for (let i = 0; i < wanted.length && length < watchLimits.lengthOfResponse; i += watchLimits.rowsAtOnce) {
    const sequences = wanted.slice(i, i + watchLimits.rowsAtOnce).map(({ sequence }) => sequence);
    const rows = await findChanges(session, sequences);
    for (const row of rows) {
      const change = toWatchedChange(row, cursors);
      length += change.length;
      found.push(change);
    }
  }
  return found;
}
