// The side indexes of advisories: filter terms, in a table of (filter, value, uid), and searched texts.
import { createHash } from "node:crypto";
import { jsonRows, selectRows } from "../engine/json-rows.ts";
import { textPlaceholder } from "../engine/placeholders.ts";
import type { Transaction } from "../engine/session.ts";
import type { SideIndex } from "../list/condition.ts";
import { and, eq, getTableColumns, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { likePattern } from "../search/like-pattern.ts";

/** The filters with terms. True if an advisory has at most one value. */
export const termFilters = {
  advisoryIds: true,
  legacyAdvisoryIds: true,
  artifactNames: true,
  artifactTypes: true,
  artifactArchitectures: true,
  origins: true,
  componentNames: true,
  componentTypes: true,
  componentLocations: true,
  latestEventTypes: true,
  products: false,
  aliases: false,
  eventAuthors: false,
  eventReviewers: false,
  eventReviewStates: false,
  eventTypes: false,
} as const;

/** The name of a filter with terms. */
export type TermFilter = keyof typeof termFilters;

/** One filter value of an advisory. */
export interface Term {
  readonly filter: TermFilter;
  readonly value: string;
}

/** Returns the stored form of a value: an index entry of PostgreSQL is shorter than 2704 bytes. */
function termValue(filter: TermFilter, value: string): string {
  const text = filter === "products" ? nameFirst(value) : value;
  return text.length <= 256 ? text : `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/**
 * Returns `curl pkg:deb/debian/` for `pkg:deb/debian/curl`: usually on the same page as terms of the name alone, which
 * are written with it.
 */
function nameFirst(packageKey: string): string {
  return packageKey.replace(/^(pkg:.*\/)(.*)$/s, "$2 $1");
}

/** The columns that terms depend on. */
export type TermRow = Omit<Tables["advisories"]["$inferSelect"], "severities">;

/** Returns the terms of an advisory and its events. Empty values have none. */
export function termsOf(
  row: TermRow,
  events: readonly Pick<Tables["advisoryEvents"]["$inferSelect"], "author" | "reviewer" | "reviewState" | "type">[],
): Term[] {
  const values: Record<TermFilter, readonly (string | number)[]> = {
    advisoryIds: [row.name],
    legacyAdvisoryIds: [row.legacyAdvisoryId],
    artifactNames: [row.artifactName],
    artifactTypes: [row.artifactType],
    artifactArchitectures: [row.artifactArchitecture],
    origins: [row.origin],
    componentNames: [row.componentName],
    componentTypes: [row.componentType],
    componentLocations: [row.componentLocation],
    latestEventTypes: [row.latestEventType],
    products: row.lookUpKeys,
    aliases: row.aliases,
    eventAuthors: events.map(({ author }) => author),
    eventReviewers: events.map(({ reviewer }) => reviewer),
    eventReviewStates: events.map(({ reviewState }) => reviewState),
    eventTypes: events.map(({ type }) => type),
  };
  return Object.entries(values).flatMap(([filter, found]) =>
    [...new Set(found)]
      .filter((value) => value !== "" && value !== 0)
      .map((value) => ({ filter: filter as TermFilter, value: termValue(filter as TermFilter, String(value)) })),
  );
}

/** Returns the searched text: in lower case, one value per line. */
export function textOf({ artifactName, componentName, aliases }: TermRow): string {
  return [artifactName, componentName, ...aliases].join("\n").toLowerCase();
}

/** Updates the terms of an advisory. An empty `after` deletes them all. */
export async function replaceTerms(
  tx: Transaction,
  uid: string,
  before: readonly Term[],
  after: readonly Term[],
): Promise<void> {
  const remove = tx.prepared("advisory_terms.delete", (db, { advisoryTerms: terms }) =>
    db
      .delete(terms)
      .where(
        and(
          eq(terms.filter, sql.placeholder("filter")),
          eq(terms.value, sql.placeholder("value")),
          eq(terms.uid, sql.placeholder("uid")),
        ),
      ),
  );
  const old = new Set(before.map(keyOf));
  const now = new Set(after.map(keyOf));
  for (const term of before) if (!now.has(keyOf(term))) await remove.execute({ ...term, uid });
  await insertTerms(
    tx,
    after.filter((term) => !old.has(keyOf(term))).map((term) => ({ ...term, uid })),
  );
}

async function insertTerms(tx: Transaction, terms: readonly (Term & { readonly uid: string })[]): Promise<void> {
  if (tx.isRemote) return await insertAllTerms(tx, terms);
  const insert = tx.prepared("advisory_terms.insert", (db, { advisoryTerms }) =>
    db.insert(advisoryTerms).values({
      filter: sql.placeholder("filter"),
      value: sql.placeholder("value"),
      uid: sql.placeholder("uid"),
    }),
  );
  for (const term of terms) await insert.execute({ ...term });
}

async function insertAllTerms(tx: Transaction, terms: readonly object[]): Promise<void> {
  if (terms.length === 0) return;
  const insert = tx.prepared("advisory_terms.insert_all", (db, { advisoryTerms }) =>
    db.insert(advisoryTerms).select(selectRows(getTableColumns(advisoryTerms))),
  );
  await insert.execute({ rows: jsonRows(getTableColumns(tx.tables.advisoryTerms), terms) });
}

function keyOf({ filter, value }: Term): string {
  return `${filter} ${value}`;
}

/** Stores the searched text of an advisory; undefined deletes it. */
export async function replaceText(tx: Transaction, uid: string, text: string | undefined): Promise<void> {
  if (text === undefined) {
    const remove = tx.prepared("advisory_texts.delete", (db, { advisoryTexts }) =>
      db.delete(advisoryTexts).where(eq(advisoryTexts.uid, sql.placeholder("uid"))),
    );
    await remove.execute({ uid });
    return;
  }
  const set = tx.prepared("advisory_texts.set", (db, { advisoryTexts }) =>
    db
      .insert(advisoryTexts)
      .values({ uid: sql.placeholder("uid"), text: sql.placeholder("text") })
      .onConflictDoUpdate({ target: advisoryTexts.uid, set: { text: sql`excluded.text` } }),
  );
  await set.execute({ uid, text });
}

/** Returns the index of the advisories with one of these values. */
export function termIndex(filter: TermFilter, values: readonly string[]): SideIndex {
  const stored = values.map((value) => termValue(filter, value));
  const isOne = stored.length === 1;
  const isDistinct = isOne || termFilters[filter];
  return {
    name: `terms.${isOne ? "one" : isDistinct ? "any" : "several"}`,
    table: (tables) => tables.advisoryTerms,
    where({ tables: { advisoryTerms: terms }, isAmong }) {
      const wanted = textPlaceholder("term.value");
      const matches = isOne ? eq(terms.value, wanted) : isAmong(terms.value, wanted);
      return and(eq(terms.filter, textPlaceholder("term.filter")), matches);
    },
    values: { "term.filter": filter, "term.value": isOne ? stored[0]! : JSON.stringify(stored) },
    isDistinct,
    isSortedByUid: isOne,
  };
}

/** Returns the index of the advisories whose searched text contains a term, given in lower case. */
export function textIndex(query: string): SideIndex {
  return {
    name: "text",
    table: (tables) => tables.advisoryTexts,
    where: ({ tables: { advisoryTexts } }) =>
      sql`${advisoryTexts.text} like ${textPlaceholder("text.pattern")} escape '\\'`,
    values: { "text.pattern": likePattern(query) },
    isDistinct: true,
    isSortedByUid: true,
    term: query,
  };
}
