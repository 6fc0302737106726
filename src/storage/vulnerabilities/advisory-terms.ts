// What advisories can be found by: every value of every filter, in a table of (filter, value, uid), and the searched texts.
import { createHash } from "node:crypto";
import { textPlaceholder } from "../engine/placeholders.ts";
import type { Transaction } from "../engine/session.ts";
import type { SideIndex } from "../list/condition.ts";
import { and, eq, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { likePattern } from "../search/like-pattern.ts";

/** The filters that have terms. True where an advisory has one value at most. */
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

/** The name of such a filter. */
export type TermFilter = keyof typeof termFilters;

/** One value that an advisory can be found by. */
export interface Term {
  readonly filter: TermFilter;
  readonly value: string;
}

/** The value as it is stored: an index entry of PostgreSQL holds less than 2704 bytes. */
function termValue(filter: TermFilter, value: string): string {
  const text = filter === "products" ? nameFirst(value) : value;
  return text.length <= 256 ? text : `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** `curl pkg:deb/debian/` for `pkg:deb/debian/curl`: mostly on the page of the terms that have the name alone, and written with them. */
function nameFirst(packageKey: string): string {
  return packageKey.replace(/^(pkg:.*\/)(.*)$/s, "$2 $1");
}

/** The columns that terms come from. */
export type TermRow = Omit<Tables["advisories"]["$inferSelect"], "severities">;

/** The terms of an advisory and its events. Empty values are nobody's. */
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

/** What a query looks through, in lower case, one line each. */
export function textOf({ artifactName, componentName, aliases }: TermRow): string {
  return [artifactName, componentName, ...aliases].join("\n").toLowerCase();
}

/** Brings the terms of an advisory up to date; all go when there are none after. */
export async function replaceTerms(
  tx: Transaction,
  uid: string,
  before: readonly Term[],
  after: readonly Term[],
): Promise<void> {
  const insert = tx.prepared("advisory_terms.insert", (db, { advisoryTerms }) =>
    db.insert(advisoryTerms).values({
      filter: sql.placeholder("filter"),
      value: sql.placeholder("value"),
      uid: sql.placeholder("uid"),
    }),
  );
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
  for (const term of after) if (!old.has(keyOf(term))) await insert.execute({ ...term, uid });
}

function keyOf({ filter, value }: Term): string {
  return `${filter} ${value}`;
}

/** Sets what a query looks through; nothing is left when it is undefined. */
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

/** Finds the advisories that have one of these values. */
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

/** Finds the advisories whose searched text contains a text, given in lower case. */
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
