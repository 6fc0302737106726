// Which changes a list has. They are looked through in their order, so many at a time, and then the next page goes on.
import type { ListChangesRequest } from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { fromTimestamp } from "../../aip/timestamps.ts";
import { readHistory } from "../../storage/change-history.ts";
import type { Session } from "../../storage/session.ts";
import { isWithin, rootOf } from "../../uid.ts";

/** Changes that one call looks through where not all of the organization's are wanted. */
const maxLookedAt = 2000;

type Head = Awaited<ReturnType<typeof readHistory>>[number];

/** Where to begin, in which direction, and how many to find at most. */
export interface Look {
  readonly isFollowed: boolean;
  readonly behind: number | undefined;
  readonly pageSize: number;
}

/** What was found, by the numbers of changes. */
export interface Looked {
  readonly found: readonly number[];
  /** The first that was looked at, and the last; undefined when there was none. */
  readonly first: number | undefined;
  readonly last: number | undefined;
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
  const heads = await readHistory(session, { organization: rootOf(request.parent), isFollowed, behind, limit });
  const first = heads[0]?.sequence;
  const { startTime } = request;
  const end = isFollowed || !startTime ? -1 : heads.findIndex(({ time }) => time < fromTimestamp(startTime));
  const found: number[] = [];
  let last: number | undefined;
  for (const head of end < 0 ? heads : heads.slice(0, end)) {
    if (found.length === pageSize) return { found, first, last, hasMore: true };
    last = head.sequence;
    if (isWanted(head, request)) found.push(head.sequence);
  }
  return { found, first, last, hasMore: end < 0 && heads.length === limit };
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
