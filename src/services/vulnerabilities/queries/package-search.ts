// Finds the advisories on a package among those that a caller may see: by its keys, one after the other, and of each in the order
// of their uids. The cost follows from what is found, and not from how many advisories there are. Each portion is a snapshot of its
// own, so that a long search delays nobody.
import { setImmediate as nextTick } from "node:timers/promises";
import type { AdvisoryStatements } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { type Answer, evaluate } from "../../../advisories/queries/evaluate.ts";
import type { QueriedPackage } from "../../../advisories/queries/package.ts";
import { textLength } from "../../../aip/text-length.ts";
import type { Database } from "../../../storage/database.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { listRows, type Source } from "../../../storage/list/list-rows.ts";
import { termIndex } from "../../../storage/vulnerabilities/advisory-terms.ts";
import { type AdvisoryRow, advisoryCollection } from "../../../storage/vulnerabilities/rows.ts";
import { advisoryLimits } from "../limits.ts";
import { readStatements } from "../records/advisory-statements.ts";

/** How far a client has come: it has seen what this key finds up to this uid. */
export interface SearchPlace {
  readonly key: number;
  readonly uid: string;
}

/** An advisory that says something of the version. */
export interface FoundAdvisory {
  readonly row: AdvisoryRow;
  readonly statements: AdvisoryStatements;
  readonly answer: Answer;
}

/** What one call may still spend, on all of its searches together. A search that runs out of it goes on in the next call. */
export interface SearchBudget {
  /** Keys that are looked up, in each subtree that the caller may see. */
  lookUps: number;
  /** Advisories that are read. */
  advisories: number;
  /** What the results may add up to, in UTF-16 units. */
  length: number;
  /** The end of its time, by performance.now(): a call that does not end before its deadline has found nothing. */
  readonly until: number;
}

/** What one call may spend. */
export function newBudget(): SearchBudget {
  const { milliseconds, ...others } = advisoryLimits.search;
  return { ...others, until: performance.now() + milliseconds };
}

/** What is searched, and where. */
export interface Search {
  readonly database: Pick<Database, "read">;
  /** What the caller may see. */
  readonly sources: readonly Source[];
  readonly asked: QueriedPackage;
  /** Where the previous page ended; undefined at first. */
  readonly after: SearchPlace | undefined;
}

/** A part of what is found. */
export interface SearchPage<T> {
  readonly items: readonly T[];
  /** Where to go on; undefined at the end. */
  readonly next: SearchPlace | undefined;
}

/** Advisories that are read with their records at once. */
const portion = 20;

/** Finds so many results at most, each made by `toItems` from an advisory, within the budget. */
export async function searchPackage<T>(
  search: Search,
  limit: number,
  budget: SearchBudget,
  toItems: (found: FoundAdvisory, session: Session) => readonly T[] | Promise<readonly T[]>,
): Promise<SearchPage<T>> {
  const { database, sources, asked } = search;
  const keys = [...asked.versions.keys()];
  const items: T[] = [];
  const isFull = () => items.length >= limit || budget.length <= 0;
  const isSpent = () => budget.lookUps <= 0 || budget.advisories <= 0 || performance.now() >= budget.until;

  /** Goes on behind a place; at the end of a key to the next one. */
  async function readFrom(session: Session, place: SearchPlace): Promise<SearchPlace> {
    const rows = await readPortion(session, sources, keys[place.key]!, place.uid);
    budget.lookUps -= sources.length;
    budget.advisories -= rows.length;
    let { uid } = place;
    for (const [i, statements] of (await readStatements(session, rows)).entries()) {
      if (isFull()) return { ...place, uid };
      const row = rows[i]!;
      uid = row.uid;
      const answer = isFoundBefore(row, keys.slice(0, place.key)) ? undefined : evaluate(statements, asked);
      for (const item of answer ? await toItems({ row, statements, answer }, session) : []) {
        items.push(item);
        budget.length -= textLength(item);
      }
    }
    return rows.length < portion ? { key: place.key + 1, uid: "" } : { ...place, uid };
  }

  let place = search.after ?? { key: 0, uid: "" };
  while (place.key < keys.length) {
    if (isFull() || isSpent()) return { items, next: place };
    place = await database.read((session) => readFrom(session, place));
    await nextTick();
  }
  return { items, next: undefined };
}

/** Whether an earlier key has found it: a package may be named by several. */
function isFoundBefore({ lookUpKeys }: AdvisoryRow, keys: readonly string[]): boolean {
  return lookUpKeys.some((key) => keys.includes(key));
}

async function readPortion(
  session: Session,
  sources: readonly Source[],
  key: string,
  after: string,
): Promise<AdvisoryRow[]> {
  const index = termIndex("products", [key]);
  return await listRows(session, advisoryCollection, {
    ...{ sources, filters: {}, plans: sources.map(() => ({ index })), skip: 0, limit: portion },
    order: { field: "uid", descending: false },
    after: after === "" ? undefined : { value: after, uid: after },
  });
}
