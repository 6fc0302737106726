// The events of advisories, and the conditions that lists of advisories are filtered by.
import type { SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { type Condition, textPlaceholder } from "./condition.ts";
import { and, asc, inArray, sql } from "./drizzle.ts";
import { placeholders } from "./placeholders.ts";
import type { Session, SessionDialect, Transaction } from "./session.ts";
import type { Tables } from "./tables.ts";

/** An event as it is stored; the protobuf JSON is of everything but its uid. */
export type AdvisoryEventRow = Tables["advisoryEvents"]["$inferSelect"];

/** What lists of advisories can be filtered by: the values of one filter are alternatives, an empty list keeps all. */
export interface AdvisoryFilter {
  readonly advisoryIds: readonly string[];
  readonly legacyAdvisoryIds: readonly string[];
  readonly artifactNames: readonly string[];
  readonly artifactTypes: readonly string[];
  readonly artifactArchitectures: readonly string[];
  readonly componentNames: readonly string[];
  readonly componentTypes: readonly string[];
  readonly componentLocations: readonly string[];
  readonly aliases: readonly string[];
  /** One and the same event passes these four. */
  readonly eventAuthors: readonly string[];
  readonly eventReviewers: readonly string[];
  readonly eventReviewStates: readonly number[];
  readonly eventTypes: readonly number[];
  /** No event at all is by one of these. */
  readonly excludeEventAuthors: readonly string[];
  /** What the search text contains, in lower case; empty keeps all. */
  readonly query: string;
}

const eventFilters = ["eventAuthors", "eventReviewers", "eventReviewStates", "eventTypes"] as const;

/** The condition that a filter comes to; undefined when it keeps all. */
export function advisoryCondition(filter: AdvisoryFilter): Condition | undefined {
  const { query, ...lists } = filter;
  const values: Record<string, string | null> = { query: query === "" ? null : `%${escapeLike(query)}%` };
  // Of numbers and texts alike: the databases make texts of both.
  for (const [name, list] of Object.entries(lists))
    values[name] = list.length > 0 ? JSON.stringify(list.map(String)) : null;
  if (Object.values(values).every((value) => value === null)) return undefined;
  values.anyEvent = eventFilters.some((name) => values[name] !== null) ? "some" : null;
  return { name: "advisories", build, values };
}

function build(dialect: SessionDialect): SQL {
  const { advisories, advisoryEvents: events } = dialect.tables;
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
  return and(
    oneOf(advisories.name, "advisoryIds"),
    oneOf(advisories.legacyAdvisoryId, "legacyAdvisoryIds"),
    oneOf(advisories.artifactName, "artifactNames"),
    oneOf(advisories.artifactType, "artifactTypes"),
    oneOf(advisories.artifactArchitecture, "artifactArchitectures"),
    oneOf(advisories.componentName, "componentNames"),
    oneOf(advisories.componentType, "componentTypes"),
    oneOf(advisories.componentLocation, "componentLocations"),
    optional("query", sql`${advisories.searchText} like ${textPlaceholder("query")} escape '\\'`),
    optional("aliases", sql`exists (select 1 from ${dialect.textsOf(advisories.aliases)} where ${anyAlias})`),
    optional("anyEvent", sql`exists (select 1 from ${events} where ${eventConditions})`),
    optional("excludeEventAuthors", sql`not exists (select 1 from ${events} where ${excluded})`),
  )!;
}

/** What holds when nothing is asked for, too. */
function optional(name: keyof AdvisoryFilter | "anyEvent", condition: SQL): SQL {
  return sql`(${textPlaceholder(name)} is null or ${condition})`;
}

function isOneOf({ textsOf }: SessionDialect, value: PgColumn | SQL, name: keyof AdvisoryFilter): SQL {
  return sql`${value} in (select value from ${textsOf(textPlaceholder(name))})`;
}

function asText(column: PgColumn): SQL {
  return sql`cast(${column} as text)`;
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}

/** Adds an event of an advisory. */
export async function insertAdvisoryEvent(tx: Transaction, event: AdvisoryEventRow): Promise<void> {
  const statement = tx.prepared("advisory_events.insert", (db, { advisoryEvents }) =>
    db.insert(advisoryEvents).values(placeholders(Object.keys(event)) as never),
  );
  await statement.execute({ ...event });
}

/** The events of advisories, oldest first. */
export async function findAdvisoryEvents(
  session: Session,
  advisoryUids: readonly string[],
): Promise<AdvisoryEventRow[]> {
  const statement = session.prepared("advisory_events.of", (db, { advisoryEvents }) =>
    db
      .select()
      .from(advisoryEvents)
      .where(
        inArray(
          advisoryEvents.advisoryUid,
          sql`(select value from ${session.textsOf(textPlaceholder("advisoryUids"))})`,
        ),
      )
      .orderBy(asc(advisoryEvents.advisoryUid), asc(advisoryEvents.createTime), asc(advisoryEvents.uid)),
  );
  return await statement.execute({ advisoryUids: JSON.stringify(advisoryUids) });
}
