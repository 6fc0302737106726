// Finds the advisories about a package.
import { rangeBelow } from "../uid.ts";
import { type TermFilter, termValue } from "./advisory-terms.ts";
import { and, asc, eq, getTableColumns, gt, lt, sql } from "./drizzle.ts";
import { atMost } from "./placeholders.ts";
import type { Session } from "./session.ts";
import type { Tables } from "./tables.ts";

/** Which advisories are looked for: those below a group that have a term, from behind one of them. */
export interface PackageSearch {
  readonly groupUid: string;
  /** `products` for the key of a package, `artifactNames` for advisories whose product is not known by a key. */
  readonly filter: TermFilter;
  readonly value: string;
  /** The uid of the last advisory of the page before; empty for the first page. */
  readonly after: string;
  readonly limit: number;
}

/** The advisories that have a term, in the order of their uids. */
export async function findAdvisoriesByTerm(
  session: Session,
  { groupUid, filter, value, after, limit }: PackageSearch,
): Promise<Tables["advisories"]["$inferSelect"][]> {
  const statement = session.prepared("advisories.by_term", (db, { advisories, advisoryTerms: terms }) =>
    db
      .select(getTableColumns(advisories))
      .from(terms)
      .innerJoin(advisories, eq(advisories.uid, terms.uid))
      .where(
        and(
          ...[eq(terms.filter, sql.placeholder("filter")), eq(terms.value, sql.placeholder("value"))],
          ...[gt(terms.uid, sql.placeholder("after")), lt(terms.uid, sql.placeholder("to"))],
        ),
      )
      .orderBy(asc(terms.uid))
      .limit(atMost("limit")),
  );
  const { from, to } = rangeBelow(groupUid);
  return await statement.execute({ filter, value: termValue(value), after: after > from ? after : from, to, limit });
}
