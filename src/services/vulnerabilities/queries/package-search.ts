// Finds the advisories of a package that the caller may see, by its keys and then by uid. CPU time depends on the number of matches,
// not on the number of advisories. Each batch is read in a snapshot of its own.
import type { AdvisoryStatements } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { type Answer, evaluate } from "../../../advisories/queries/evaluate.ts";
import type { QueriedPackage } from "../../../advisories/queries/package.ts";
import { textLength } from "../../../aip/text-length.ts";
import { nextSlice } from "../../../base/slices.ts";
import type { Database } from "../../../storage/database.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { listRows, type Source } from "../../../storage/list/list-rows.ts";
import { termIndex } from "../../../storage/vulnerabilities/advisory-terms.ts";
import { type AdvisoryRow, advisoryCollection } from "../../../storage/vulnerabilities/rows.ts";
import { advisoryLimits } from "../limits.ts";
import { readStatements } from "../records/advisory-statements.ts";

/** The position of a client: it has seen the matches of this key up to this uid. */
export interface SearchPlace {
  readonly key: number;
  readonly uid: string;
}

/** An advisory that matches the version. */
export interface FoundAdvisory {
  readonly row: AdvisoryRow;
  readonly statements: AdvisoryStatements;
  readonly answer: Answer;
}

/** The remaining budget of one call for all of its searches. A search that uses it up continues in the next call. */
export interface SearchBudget {
  /** Key lookups, counted per visible subtree. */
  lookUps: number;
  /** Advisories to read. */
  advisories: number;
  /** The total size of the results, in UTF-16 units. */
  length: number;
  /** The end of the search, by performance.now(): well before the deadline of the call. */
  readonly until: number;
}

/** Returns the budget of one call. */
export function newBudget(): SearchBudget {
  const { milliseconds, ...others } = advisoryLimits.search;
  return { ...others, until: performance.now() + milliseconds };
}

/** The scope of a package search. */
export interface Search {
  readonly database: Pick<Database, "read">;
  /** The sources that the caller may see. */
  readonly sources: readonly Source[];
  readonly asked: QueriedPackage;
  /** The end of the previous page; undefined for the first page. */
  readonly after: SearchPlace | undefined;
}

/** A page of results. */
export interface SearchPage<T> {
  readonly items: readonly T[];
  /** The position of the next page; undefined at the end. */
  readonly next: SearchPlace | undefined;
}

/** How many advisories are read with their records at once. */
const portion = 20;

/** Finds up to `limit` results within the budget. `toItems` converts an advisory to results. */
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

  /** Reads a batch after a position. Continues with the next key at the end of one. */
  async function readFrom(session: Session, place: SearchPlace): Promise<SearchPlace> {
    const rows = await readBatch(session, sources, keys[place.key]!, place.uid);
    budget.lookUps -= sources.length;
    budget.advisories -= rows.length;
    let { uid } = place;
    for (const [i, statements] of (await readStatements(session, rows)).entries()) {
      await nextSlice();
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
    await nextSlice();
  }
  return { items, next: undefined };
}

/** Whether an earlier key of the package has already found the advisory. */
function isFoundBefore({ lookUpKeys }: AdvisoryRow, keys: readonly string[]): boolean {
  return lookUpKeys.some((key) => keys.includes(key));
}

async function readBatch(
  session: Session,
  sources: readonly Source[],
  key: string,
  after: string,
): Promise<AdvisoryRow[]> {
  const index = termIndex("products", [key]);
  return await listRows(session, advisoryCollection, {
    sources,
    filters: {},
    plans: sources.map(() => ({ index })),
    skip: 0,
    limit: portion,
    order: { field: "uid", descending: false },
    after: after === "" ? undefined : { value: after, uid: after },
  });
}
