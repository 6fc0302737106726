// Which changes a list has. They are looked through in their order, so many at a time, and then the next page goes on.
import type { ListChangesRequest } from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { fromTimestamp } from "../../aip/timestamps.ts";
import { isWithin, rootOf } from "../../model/uid.ts";
import { type LogPosition, readHistory } from "../../storage/change-log/history.ts";
import type { Session } from "../../storage/engine/session.ts";

/** Changes that one call looks through where not all of the organization's are wanted. */
const maxLookedAt = 2000;

type Head = Awaited<ReturnType<typeof readHistory>>[number];

/** Where to begin, in which direction, and how many to find at most. */
export interface Look {
  readonly isFollowed: boolean;
  readonly behind: number | undefined;
  readonly pageSize: number;
}

/** What was found. */
export interface Looked {
  readonly found: readonly LogPosition[];
  /** The last that was looked at; undefined when there was none. */
  readonly last: LogPosition | undefined;
  /** Whether any follow the last. */
  readonly hasMore: boolean;
}

/** Looks for the changes that a request wants. */
export async function lookThrough(
  session: Session,
  request: ListChangesRequest,
  { isFollowed, behind, pageSize }: Look,
): Promise<Looked> {
  const limit = isNarrowed(request) ? maxLookedAt : pageSize + 1;
  const heads = await readHistory(session, { organization: rootOf(request.parent), isFollowed, after: behind, limit });
  const { startTime } = request;
  const end = isFollowed || !startTime ? -1 : heads.findIndex(({ time }) => time < fromTimestamp(startTime));
  const found: LogPosition[] = [];
  let last: LogPosition | undefined;
  for (const head of end < 0 ? heads : heads.slice(0, end)) {
    if (found.length === pageSize) return { found, last, hasMore: true };
    last = head;
    if (isWanted(head, request)) found.push(head);
  }
  return { found, last, hasMore: end < 0 && heads.length === limit };
}

/** Whether some changes of the organization are passed over. */
function isNarrowed({ parent, actorUid, resourceUid, kind, endTime }: ListChangesRequest): boolean {
  return parent !== rootOf(parent) || actorUid !== "" || resourceUid !== "" || kind !== "" || endTime !== undefined;
}

function isWanted(head: Head, request: ListChangesRequest): boolean {
  const { parent, actorUid, resourceUid, kind, startTime, endTime } = request;
  return (
    isWithin(head.groupUid, parent) &&
    (actorUid === "" || head.actor === actorUid) &&
    (resourceUid === "" || isWithin(head.uid, resourceUid)) &&
    (kind === "" || head.kind === kind) &&
    (!startTime || head.time >= fromTimestamp(startTime)) &&
    (!endTime || head.time < fromTimestamp(endTime))
  );
}
