// Looks through the rows of subtrees for those that match a condition which no index answers. A scan reads a limited number of rows.
import type { SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { rangeBelow } from "../../model/uid.ts";
import { readCounter } from "../engine/counters.ts";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, asc, count, gt, lt, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import type { Condition } from "./condition.ts";

/** The condition to test, and the table to scan. */
export interface Scan {
  /** The resource whose counter says how many rows a subtree has at most. */
  readonly kind: string;
  readonly table: (tables: Tables) => PgTable;
  /** The column with the uid, by which the table is stored. */
  readonly uid: (tables: Tables) => PgColumn;
  readonly condition: Pick<Condition, "name" | "build" | "values">;
}

/** A range of uids: those after `from` and before `to`. */
export interface ScanRange {
  readonly from: string;
  readonly to: string;
}

/** The page of a scan's rows to return, in the order of their uids. */
export interface ScanPage {
  /** The page starts after this uid; empty for the first. */
  readonly after: string;
  readonly skip: number;
  readonly limit: number;
}

/**
 * Returns the ranges of these subtrees, which are in byte order and disjoint. Together they have at most `limit` rows: the rest is left
 * out, and `isWhole` is then false.
 */
export async function scanRanges(
  session: Session,
  scan: Omit<Scan, "condition">,
  subtrees: readonly string[],
  limit: number,
) {
  const ranges: ScanRange[] = [];
  let left = limit;
  for (const uid of subtrees) {
    if (left === 0) return { ranges, isWhole: false };
    const range = rangeBelow(uid);
    const rows = await readCounter(session, uid, scan.kind);
    const end = rows > left ? await uidAt(session, scan, range, left) : undefined;
    if (end !== undefined) return { ranges: [...ranges, { ...range, to: end }], isWhole: false };
    ranges.push(range);
    left = Math.max(left - rows, 0);
  }
  return { ranges, isWhole: true };
}

/** Returns the uids of the matching rows on a page. */
export async function scanRows(
  session: Session,
  scan: Scan,
  ranges: readonly ScanRange[],
  { after, skip, limit }: ScanPage,
): Promise<string[]> {
  const statement = session.prepared(`scan.rows.${scan.kind}.${scan.condition.name}`, (db, tables) => {
    const uid = scan.uid(tables);
    return db
      .select({ uid })
      .from(scan.table(tables))
      .where(and(...within(uid), scan.condition.build(session)))
      .orderBy(asc(uid))
      .limit(limitOf("limit"))
      .offset(sql.placeholder("skip"));
  });
  const found: string[] = [];
  let left = skip;
  for (const range of rangesAfter(ranges, after)) {
    // Only what is skipped has to be counted.
    const skipped = left === 0 ? 0 : await countScanned(session, scan, [range], "");
    if (left > 0 && left >= skipped) {
      left -= skipped;
      continue;
    }
    const page = { skip: left, limit: limit - found.length };
    const rows = (await statement.execute({ ...range, ...page, ...scan.condition.values })) as { uid: string }[];
    found.push(...rows.map(({ uid }) => uid));
    left = 0;
    if (found.length === limit) break;
  }
  return found;
}

/** Counts the matching rows after a uid; all of them for an empty one. */
export async function countScanned(
  session: Session,
  scan: Scan,
  ranges: readonly ScanRange[],
  after: string,
): Promise<number> {
  const statement = session.prepared(`scan.count.${scan.kind}.${scan.condition.name}`, (db, tables) =>
    db
      .select({ count: count() })
      .from(scan.table(tables))
      .where(and(...within(scan.uid(tables)), scan.condition.build(session))),
  );
  let total = 0;
  for (const range of rangesAfter(ranges, after))
    total += Number((await statement.execute({ ...range, ...scan.condition.values }))[0]?.count);
  return total;
}

/** Returns the uid at an offset of a range, or undefined if it has fewer rows. */
async function uidAt(
  session: Session,
  scan: Omit<Scan, "condition">,
  range: ScanRange,
  offset: number,
): Promise<string | undefined> {
  const statement = session.prepared(`scan.at.${scan.kind}`, (db, tables) => {
    const uid = scan.uid(tables);
    return db
      .select({ uid })
      .from(scan.table(tables))
      .where(and(...within(uid)))
      .orderBy(asc(uid))
      .limit(limitOf(1))
      .offset(sql.placeholder("offset"));
  });
  return ((await statement.execute({ ...range, offset })) as { uid: string }[])[0]?.uid;
}

function rangesAfter(ranges: readonly ScanRange[], after: string): ScanRange[] {
  return ranges.filter(({ to }) => to > after).map(({ from, to }) => ({ from: from > after ? from : after, to }));
}

function within(uid: PgColumn): SQL[] {
  return [gt(uid, textPlaceholder("from")), lt(uid, textPlaceholder("to"))];
}
