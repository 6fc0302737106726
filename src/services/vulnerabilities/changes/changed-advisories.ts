// Finds changed advisories. A new client first gets those that changed since its start time, ordered by time. Then it follows the
// change log by sequence number: times are assigned before commits, so ordering by time alone would miss slow writers.

import { rootOf } from "../../../model/uid.ts";
import { isSelected } from "../../../resource/selection.ts";
import { endOfLog, type LogPosition, readHistory } from "../../../storage/change-log/history.ts";
import type { Database } from "../../../storage/database.ts";
import type { Session } from "../../../storage/engine/session.ts";
import type { Source } from "../../../storage/list/list-rows.ts";
import { type Deletion, readDeletions } from "../../../storage/vulnerabilities/deleted-advisories.ts";
import { advisoryCollection } from "../../../storage/vulnerabilities/rows.ts";

/** The position of a client. */
export interface Position {
  /** The last change of the log that the client has seen, or the end of the log when it started. */
  readonly place: LogPosition;
  /** The last seen advisory of the catch-up phase; absent after that phase. */
  readonly catchUp?: Deletion;
}

/** A changed advisory. */
export interface ChangedAdvisory {
  readonly uid: string;
  /** The sequence number of the change; undefined while the client catches up. */
  readonly sequence?: number;
  /** The position after this advisory. */
  readonly position: Position;
}

/** A page of changes, in order. */
export interface ChangedPage {
  readonly changed: readonly ChangedAdvisory[];
  /** The position after this page. */
  readonly position: Position;
  /** Whether more changes are known to follow. */
  readonly hasMore: boolean;
}

/** How many changes and deletions one call scans in all organizations together. */
const maxLookedAt = 2000;
const minLookedAt = 100;

/** Returns the position before all changes at `time` or later. */
export async function positionAt(session: Session, time: number): Promise<Position> {
  return { place: await endOfLog(session), catchUp: { time, uid: "" } };
}

/** Returns the advisories of the sources that changed after a position. */
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
  return await readCatchUp(database, session, looks, place, catchUp);
}

interface ScanOptions {
  readonly sources: readonly Source[];
  readonly organizations: readonly string[];
  /** How many changes are scanned per organization. */
  readonly limit: number;
  readonly pageSize: number;
}

/** Reads the catch-up phase: changed and deleted advisories, ordered by time. */
async function readCatchUp(
  { lists }: Pick<Database, "lists">,
  session: Session,
  { sources, organizations, limit, pageSize }: ScanOptions,
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
  // After catch-up the client follows the log from the place where it started.
  return { changed, position: hasMore && last ? { place, catchUp: last } : { place }, hasMore: true };
}

function byTime(a: Deletion, b: Deletion): number {
  return a.time - b.time || (a.uid < b.uid ? -1 : Number(a.uid > b.uid));
}

/** Reads the advisories in the change log after a position. One that changed several times appears at its last change. */
async function readLog(
  session: Session,
  { sources, organizations, limit, pageSize }: ScanOptions,
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
  // The end of the whole log: retention must not delete the position of a client whose groups do not change.
  return { changed: [...latest.values()], position: { place: await endOfLog(session) }, hasMore: false };
}

function pageOf(latest: ReadonlyMap<string, ChangedAdvisory>, hasMore: boolean): ChangedPage {
  const changed = [...latest.values()];
  return { changed, position: changed.at(-1)!.position, hasMore };
}

/** A sorted run of items. */
interface Run<T> {
  readonly items: readonly T[];
  /** Whether more items follow. */
  readonly hasMore: boolean;
}

/** Merges sorted runs, up to the first item that an unread item of another run could precede. */
function merged<T>(runs: readonly Run<T>[], compare: (a: T, b: T) => number): Run<T> & { readonly last?: T } {
  const cut = runs.filter(({ hasMore }) => hasMore).map(({ items }) => items.at(-1)!);
  const [last] = cut.sort(compare);
  const items = runs.flatMap((run) => run.items).sort(compare);
  if (last === undefined) return { items, hasMore: false };
  return { items: items.filter((item) => compare(item, last) <= 0), hasMore: true, last };
}
