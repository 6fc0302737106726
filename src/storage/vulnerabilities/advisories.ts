// Stores the events of advisories and deleted advisories, and builds the filter of advisory lists.
import type { SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { rangeBelow } from "../../model/uid.ts";
import { placeholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, SessionDialect, Transaction } from "../engine/session.ts";
import type { Condition } from "../list/condition.ts";
import { and, asc, desc, eq, getTableColumns, gte, inArray, lt, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { likePattern } from "../search/like-pattern.ts";
import { type TermFilter, termFilters, termIndex, textIndex } from "./advisory-terms.ts";

/** An event as it is stored; the protobuf JSON has everything but its uid. */
export type AdvisoryEventRow = Tables["advisoryEvents"]["$inferSelect"];

/** The filters of advisory lists. The values of one filter are alternatives; an empty list filters nothing. */
export interface AdvisoryFilter extends Readonly<Record<TermFilter, readonly (string | number)[]>> {
  /** No event may be by one of these authors. */
  readonly excludeEventAuthors: readonly string[];
  /** The search term in lower case; empty filters nothing. */
  readonly query: string;
}

/** These four apply to the same event. */
const eventFilters = ["eventAuthors", "eventReviewers", "eventReviewStates", "eventTypes"] as const;

/** Returns the condition of a filter, or undefined if it matches all advisories. */
export function advisoryCondition(filter: AdvisoryFilter): Condition | undefined {
  const { query, ...lists } = filter;
  const values: Record<string, string | null> = { query: query === "" ? null : likePattern(query) };
  // Numbers become texts, as in the databases.
  for (const [name, list] of Object.entries(lists))
    values[name] = list.length > 0 ? JSON.stringify(list.map(String)) : null;
  const asked = Object.keys(values).filter((name) => values[name] !== null);
  if (asked.length === 0) return undefined;
  values.anyEvent = eventFilters.some((name) => asked.includes(name)) ? "some" : null;
  // Events, terms and texts are written with their advisory.
  return { name: "advisories", build, values, dependsOnRowsOnly: true, ...indexesOf(filter, asked) };
}

function indexesOf(filter: AdvisoryFilter, asked: readonly string[]): Partial<Condition> {
  if (asked.length === 1 && asked[0] === "excludeEventAuthors")
    return { excludedBy: termIndex("eventAuthors", filter.excludeEventAuthors) };
  const indexes = asked.filter(isTermFilter).map((name) => termIndex(name, filter[name].map(String)));
  if (asked.includes("query")) indexes.push(textIndex(filter.query));
  return { indexes, indexIsExact: asked.length === 1 };
}

function build(dialect: SessionDialect): SQL {
  const { advisories, advisoryEvents: events, advisoryTexts: texts } = dialect.tables;
  const oneOf = (column: PgColumn | SQL, name: keyof AdvisoryFilter) => optional(name, isOneOf(dialect, column, name));
  const ofThis = sql`${events.advisoryUid} = ${advisories.uid}`;
  const eventConditions = and(
    ofThis,
    oneOf(events.author, "eventAuthors"),
    oneOf(events.reviewer, "eventReviewers"),
    oneOf(asText(events.reviewState), "eventReviewStates"),
    oneOf(asText(events.type), "eventTypes"),
  );
  const excluded = and(ofThis, isOneOf(dialect, events.author, "excludeEventAuthors"));
  const anyAlias = isOneOf(dialect, sql`value`, "aliases");
  const anyKey = isOneOf(dialect, sql`value`, "products");
  const matches = sql`${texts.uid} = ${advisories.uid} and ${texts.text} like ${textPlaceholder("query")} escape '\\'`;
  return and(
    oneOf(advisories.name, "advisoryIds"),
    oneOf(advisories.legacyAdvisoryId, "legacyAdvisoryIds"),
    oneOf(advisories.artifactName, "artifactNames"),
    oneOf(advisories.artifactType, "artifactTypes"),
    oneOf(advisories.artifactArchitecture, "artifactArchitectures"),
    oneOf(advisories.origin, "origins"),
    oneOf(advisories.componentName, "componentNames"),
    oneOf(advisories.componentType, "componentTypes"),
    oneOf(advisories.componentLocation, "componentLocations"),
    oneOf(asText(advisories.latestEventType), "latestEventTypes"),
    optional("aliases", sql`exists (select 1 from ${dialect.textsOf(advisories.aliases)} where ${anyAlias})`),
    optional("products", sql`exists (select 1 from ${dialect.textsOf(advisories.lookUpKeys)} where ${anyKey})`),
    optional("query", sql`exists (select 1 from ${texts} where ${matches})`),
    optional("anyEvent", sql`exists (select 1 from ${events} where ${eventConditions})`),
    optional("excludeEventAuthors", sql`not exists (select 1 from ${events} where ${excluded})`),
  )!;
}

/** Returns a condition that also holds if the filter is not set. */
function optional(name: keyof AdvisoryFilter | "anyEvent", condition: SQL): SQL {
  return sql`(${textPlaceholder(name)} is null or ${condition})`;
}

function isOneOf({ isAmong }: SessionDialect, value: PgColumn | SQL, name: keyof AdvisoryFilter): SQL {
  return isAmong(value, textPlaceholder(name));
}

function asText(column: PgColumn): SQL {
  return sql`cast(${column} as text)`;
}

function isTermFilter(name: string): name is TermFilter {
  return Object.hasOwn(termFilters, name);
}

/** Inserts an event. */
export async function insertAdvisoryEvent(tx: Transaction, event: AdvisoryEventRow): Promise<void> {
  const statement = tx.prepared("advisory_events.insert", (db, { advisoryEvents }) =>
    db.insert(advisoryEvents).values(placeholders(Object.keys(event)) as never),
  );
  await statement.execute({ ...event });
}

/** Returns the events of advisories, oldest first. */
export async function findAdvisoryEvents(
  session: Session,
  advisoryUids: readonly string[],
  which: "all" | "written" = "all",
): Promise<AdvisoryEventRow[]> {
  const statement = session.prepared(`advisory_events.of.${which}`, (db, { advisoryEvents }) =>
    db
      .select()
      .from(advisoryEvents)
      .where(
        and(
          session.isAmong(advisoryEvents.advisoryUid, textPlaceholder("advisoryUids")),
          which === "written" ? eq(advisoryEvents.derived, false) : undefined,
        ),
      )
      .orderBy(asc(advisoryEvents.advisoryUid), asc(advisoryEvents.createTime), asc(advisoryEvents.uid)),
  );
  return await statement.execute({ advisoryUids: JSON.stringify(advisoryUids) });
}

/** Updates an event. */
export async function updateAdvisoryEvent(tx: Transaction, event: AdvisoryEventRow): Promise<void> {
  const statement = tx.prepared("advisory_events.update", (db, { advisoryEvents }) =>
    db
      .update(advisoryEvents)
      .set(placeholders(["createTime", "author", "reviewer", "reviewState", "type", "event", "derived"]))
      .where(eq(advisoryEvents.uid, sql.placeholder("uid"))),
  );
  await statement.execute({ ...event });
}

/** Deletes an event. */
export async function deleteAdvisoryEvent(tx: Transaction, uid: string): Promise<void> {
  const statement = tx.prepared("advisory_events.delete_one", (db, { advisoryEvents }) =>
    db.delete(advisoryEvents).where(eq(advisoryEvents.uid, sql.placeholder("uid"))),
  );
  await statement.execute({ uid });
}

/** Deletes the events of an advisory. */
export async function deleteAdvisoryEvents(tx: Transaction, advisoryUid: string): Promise<void> {
  const statement = tx.prepared("advisory_events.delete", (db, { advisoryEvents }) =>
    db.delete(advisoryEvents).where(eq(advisoryEvents.advisoryUid, sql.placeholder("advisoryUid"))),
  );
  await statement.execute({ advisoryUid });
}

/** Returns the direct children of a group with one of two public ids. */
export async function findAdvisoriesByName(session: Session, parent: string, name: string, otherName = name) {
  const statement = session.prepared("advisories.by_name", (db, { advisories }) =>
    db
      .select()
      .from(advisories)
      .where(
        and(
          eq(advisories.parent, sql.placeholder("parent")),
          inArray(advisories.name, [sql.placeholder("name"), sql.placeholder("otherName")]),
        ),
      ),
  );
  return await statement.execute({ parent, name, otherName });
}

/** Returns the direct children of a group with this alias and author. */
export async function findAdvisoriesByAlias(session: Session, parent: string, alias: string, author: string) {
  const statement = session.prepared("advisories.by_alias", (db, { advisories, advisoryTerms: terms }) =>
    db
      .select(getTableColumns(advisories))
      .from(terms)
      .innerJoin(advisories, eq(advisories.uid, terms.uid))
      .where(
        and(
          eq(terms.filter, "aliases"),
          eq(terms.value, sql.placeholder("alias")),
          gte(terms.uid, sql.placeholder("from")),
          lt(terms.uid, sql.placeholder("to")),
          eq(advisories.parent, sql.placeholder("parent")),
          eq(advisories.author, sql.placeholder("author")),
        ),
      ),
  );
  return await statement.execute({ ...rangeBelow(parent), parent, alias, author });
}

/** A deleted advisory. */
export type DeletedAdvisoryRow = Tables["deletedAdvisories"]["$inferSelect"];

/** Stores a deleted advisory, or one that was withdrawn from the start. */
export async function insertDeletedAdvisory(tx: Transaction, deleted: DeletedAdvisoryRow): Promise<void> {
  const statement = tx.prepared("deleted_advisories.insert", (db, { deletedAdvisories }) =>
    db.insert(deletedAdvisories).values(placeholders(Object.keys(deleted)) as never),
  );
  await statement.execute({ ...deleted });
}

/** Returns the deleted advisory with this uid, or undefined. */
export async function findDeletedAdvisory(session: Session, uid: string): Promise<DeletedAdvisoryRow | undefined> {
  const statement = session.prepared("deleted_advisories.get", (db, { deletedAdvisories }) =>
    db
      .select()
      .from(deletedAdvisories)
      .where(eq(deletedAdvisories.uid, sql.placeholder("uid"))),
  );
  return (await statement.execute({ uid }))[0];
}

/** Returns the deleted advisories of a group with this public id, the latest first. */
export async function findDeletedAdvisoriesByName(
  session: Session,
  parent: string,
  name: string,
): Promise<DeletedAdvisoryRow[]> {
  const statement = session.prepared("deleted_advisories.by_name", (db, { deletedAdvisories: deleted }) =>
    db
      .select()
      .from(deleted)
      .where(and(eq(deleted.parent, textPlaceholder("parent")), eq(deleted.name, textPlaceholder("name"))))
      .orderBy(desc(deleted.deleteTime), desc(deleted.uid)),
  );
  return await statement.execute({ parent, name });
}

/** Removes a deleted advisory that exists again, or is stored in another form. */
export async function removeDeletedAdvisory(tx: Transaction, uid: string): Promise<void> {
  const statement = tx.prepared("deleted_advisories.remove", (db, { deletedAdvisories: deleted }) =>
    db.delete(deleted).where(eq(deleted.uid, sql.placeholder("uid"))),
  );
  await statement.execute({ uid });
}

/** Removes the deleted advisories of a group that is about to be deleted. */
export async function clearDeletedAdvisories(tx: Transaction, parent: string): Promise<void> {
  const statement = tx.prepared("deleted_advisories.clear", (db, { deletedAdvisories }) =>
    db.delete(deletedAdvisories).where(eq(deletedAdvisories.parent, sql.placeholder("parent"))),
  );
  await statement.execute({ parent });
}
