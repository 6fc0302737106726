// Which advisories have changed, and in which order: first those that had changed when a client began, by their times; then
// those of the change log, by its sequence. Times are assigned before commits, so that alone they would miss slow writers.

import { rootOf } from "../../../model/uid.ts";
import { isSelected } from "../../../resource/selection.ts";
import { endOfLog, type LogPosition, readHistory } from "../../../storage/change-log/history.ts";
import type { Database } from "../../../storage/database.ts";
import type { Session } from "../../../storage/engine/session.ts";
import type { Source } from "../../../storage/list/list-rows.ts";
import { type Deletion, readDeletions } from "../../../storage/vulnerabilities/deleted-advisories.ts";
import { advisoryCollection } from "../../../storage/vulnerabilities/rows.ts";

/** How far a client has come. */
export interface Position {
  /** The change that it has followed the log up to, or the end of the log when it began. */
  readonly place: LogPosition;
  /** What it has seen of the advisories that had changed when it began; absent once it has seen all of them. */
  readonly catchUp?: Deletion;
}

/** One advisory that has changed. */
export interface ChangedAdvisory {
  readonly uid: string;
  /** The sequence number of the change; undefined while the client catches up. */
  readonly sequence?: number;
  /** The position of a client that has seen it. */
  readonly position: Position;
}

/** A part of the changes, in their order. */
export interface ChangedPage {
  readonly changed: readonly ChangedAdvisory[];
  /** The position of a client that has seen all of them. */
  readonly position: Position;
  /** Whether others are known to follow. */
  readonly hasMore: boolean;
}

/** Changes and deletions that one call looks through in all organizations together, so that a call stays short. */
const maxLookedAt = 2000;
const minLookedAt = 100;

/** The position before everything that has changed at a time or later. */
export async function positionAt(session: Session, time: number): Promise<Position> {
  return { place: await endOfLog(session), catchUp: { time, uid: "" } };
}

/** The advisories among the sources that have changed behind a position. */
export async function readChanged(
  database: Pick<Database, "lists">,
  session: Session,
  sources: readonly Source[],
  position: Position,
  pageSize: number,
): Promise<ChangedPage> {
  const { place, catchUp } = position;
  const organizations = [...new Set(sources.map(({ uid }) => rootOf(uid ?? "")))];
  const limit = Math.max(minLookedAt, Math.floor(maxLookedAt / Math.max(1, organizations.length)));
  const looks = { sources, organizations, limit, pageSize };
  if (!catchUp) return await readLog(session, looks, place);
  return await readStanding(database, session, looks, place, catchUp);
}

interface Looks {
  readonly sources: readonly Source[];
  readonly organizations: readonly string[];
  /** What is looked at in each organization at most. */
  readonly limit: number;
  readonly pageSize: number;
}

/** The advisories and the deletions that there were when a client began, in the order of their times. */
async function readStanding(
  { lists }: Pick<Database, "lists">,
  session: Session,
  { sources, organizations, limit, pageSize }: Looks,
  place: LogPosition,
  after: Deletion,
): Promise<ChangedPage> {
  const order = { field: "updateTime", descending: false } as const;
  const cursor = { value: after.time, uid: after.uid };
  const listing = { sources, filters: {}, order, after: cursor, skip: 0, limit: pageSize };
  const live = await lists.page(
    advisoryCollection,
    listing,
    (_, rows) => rows.map(({ uid, updateTime }) => ({ uid, time: updateTime })),
    session,
  );
  const runs: Run<Deletion>[] = [live];
  for (const organization of organizations) {
    const items = await readDeletions(session, organization, after, limit);
    runs.push({ items, hasMore: items.length === limit });
  }
  const { items, last, hasMore } = merged(runs, byTime);
  const wanted = items.filter(({ uid }) => isSelected(sources, uid));
  const changed = wanted
    .slice(0, pageSize)
    .map(({ uid, time }): ChangedAdvisory => ({ uid, position: { place, catchUp: { time, uid } } }));
  if (wanted.length > pageSize) return { changed, position: changed.at(-1)!.position, hasMore: true };
  // Then the log is read, which may have gone on meanwhile. Its end alone would tell of the changes of others.
  return { changed, position: hasMore && last ? { place, catchUp: last } : { place }, hasMore: true };
}

function byTime(a: Deletion, b: Deletion): number {
  return a.time - b.time || (a.uid < b.uid ? -1 : Number(a.uid > b.uid));
}

/** The advisories that the change log tells of behind a place; one that changed several times stands where it changed last. */
async function readLog(
  session: Session,
  { sources, organizations, limit, pageSize }: Looks,
  { sequence: behind }: LogPosition,
): Promise<ChangedPage> {
  const runs = [];
  for (const organization of organizations) {
    const items = await readHistory(session, { organization, isFollowed: true, after: behind, limit });
    runs.push({ items, hasMore: items.length === limit });
  }
  const { items, last, hasMore } = merged(runs, (a, b) => a.sequence - b.sequence);
  const latest = new Map<string, ChangedAdvisory>();
  for (const { kind, uid, sequence, time } of items) {
    if (kind !== advisoryCollection.kind || !isSelected(sources, uid)) continue;
    if (latest.size === pageSize && !latest.has(uid)) return pageOf(latest, true);
    latest.delete(uid);
    latest.set(uid, { uid, sequence, position: { place: { sequence, time } } });
  }
  if (hasMore && last) return { ...pageOf(latest, true), position: { place: last } };
  // The end of the whole log, so that the sweep does not overtake those in whose groups nothing changes.
  return { changed: [...latest.values()], position: { place: await endOfLog(session) }, hasMore: false };
}

function pageOf(latest: ReadonlyMap<string, ChangedAdvisory>, hasMore: boolean): ChangedPage {
  const changed = [...latest.values()];
  return { changed, position: changed.at(-1)!.position, hasMore };
}

/** What was read of something in its order. */
interface Run<T> {
  readonly items: readonly T[];
  /** Whether others follow them. */
  readonly hasMore: boolean;
}

/** The items of all runs in one order, up to the first that another run may have to come before. */
function merged<T>(runs: readonly Run<T>[], compare: (a: T, b: T) => number): Run<T> & { readonly last?: T } {
  const cut = runs.filter(({ hasMore }) => hasMore).map(({ items }) => items.at(-1)!);
  const [last] = cut.sort(compare);
  const items = runs.flatMap((run) => run.items).sort(compare);
  if (last === undefined) return { items, hasMore: false };
  return { items: items.filter((item) => compare(item, last) <= 0), hasMore: true, last };
}
