// Finds the changes of a page. A call scans a limited number of changes in order; the next page continues from there.
import type { ListChangesRequest } from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { fromTimestamp } from "../../aip/timestamps.ts";
import { rootOf } from "../../model/uid.ts";
import { type LogPosition, readHistory } from "../../storage/change-log/history.ts";
import type { Session } from "../../storage/engine/session.ts";
import { newChangeFilter } from "./change-filter.ts";
import type { VisibleChanges } from "./visible-changes.ts";

/** How many changes one call scans if a filter excludes some: fewer if it reads in their rows, which can be large. */
const maxScanned = { heads: 2000, withContent: 500 };

/** The direction, start and size of a page. */
export interface ScanOptions {
  /** Whether the scan goes from older to newer changes. */
  readonly isFollowed: boolean;
  /** The sequence number after which the scan starts; undefined for the beginning. */
  readonly start: number | undefined;
  readonly pageSize: number;
  /** The part of the log that the caller may read. */
  readonly visible: Pick<VisibleChanges, "isWhole" | "shows">;
}

/** The result of a scan. */
export interface ScanResult {
  readonly found: readonly LogPosition[];
  /** The last scanned change; undefined if there was none. */
  readonly last: LogPosition | undefined;
  /** Whether changes follow the last one. */
  readonly hasMore: boolean;
}

/** Scans the change log for the changes that match a request. */
export async function scanChanges(
  session: Session,
  request: ListChangesRequest,
  { isFollowed, start, pageSize, visible }: ScanOptions,
): Promise<ScanResult> {
  const filter = newChangeFilter(request);
  const { withContent } = filter;
  const scanned = withContent ? maxScanned.withContent : maxScanned.heads;
  const limit = visible.isWhole && filter.isEmpty ? pageSize + 1 : scanned;
  const range = { organization: rootOf(request.parent), isFollowed, after: start, limit, withContent };
  const heads = await readHistory(session, range);
  const { startTime } = request;
  const end = isFollowed || !startTime ? -1 : heads.findIndex(({ time }) => time < fromTimestamp(startTime));
  const found: LogPosition[] = [];
  let last: LogPosition | undefined;
  for (const head of end < 0 ? heads : heads.slice(0, end)) {
    if (found.length === pageSize) return { found, last, hasMore: true };
    last = head;
    if (filter.matches(head) && visible.shows(head)) found.push(head);
  }
  return { found, last, hasMore: end < 0 && heads.length === limit };
}
