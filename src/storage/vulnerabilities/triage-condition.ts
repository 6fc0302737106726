// The filter of advisories by severity and publication. It is tested in the index `advisories_published`, without reading rows: of 300,000
// advisories, the newest critical ones with their total take 85 ms of CPU on SQLite, nearly all of it for the total.
import type { SQL } from "drizzle-orm";
import type { SessionDialect } from "../engine/session.ts";
import type { Condition } from "../list/condition.ts";
import { and, between, eq, gt, gte, or, sql } from "../schema/drizzle.ts";
import { termIndex } from "./advisory-terms.ts";

/** The filter. What is undefined filters nothing; `bands` are alternatives. */
export interface Triage {
  /** The type of the latest approved event. */
  readonly latestEventType: number | undefined;
  /** The lowest and the highest score, in tenths. */
  readonly bands: readonly (readonly [lowest: number, highest: number])[];
  /** In tenths. */
  readonly minScore: number | undefined;
  /** In milliseconds since the epoch. */
  readonly publishedAfter: number | undefined;
}

/**
 * Returns the condition that a filter and the other filters of a list make; undefined if neither filters. It compares columns with plain
 * values, unlike those: only so is it tested in the index `advisories_published`. A cast number: see `textPlaceholder`.
 */
export function triageCondition(triage: Triage, others: Condition | undefined): Condition | undefined {
  const { latestEventType, bands } = triage;
  const values = valuesOf(triage);
  const asked = Object.keys(values);
  if (asked.length === 0) return others;
  const build = (dialect: SessionDialect) =>
    and(others?.build(dialect), ...comparisons(dialect, values, bands.length))!;
  const ofType = latestEventType === undefined ? [] : [termIndex("latestEventTypes", [String(latestEventType)])];
  return {
    // Statements are prepared by this name.
    name: [others?.name ?? "published", ...asked].join("."),
    build,
    values: { ...others?.values, ...values },
    indexes: [...(others?.indexes ?? []), ...ofType],
    indexIsExact: others === undefined && ofType.length === 1 && asked.length === 1,
    isPublished: others === undefined,
    dependsOnRowsOnly: true,
  };
}

function valuesOf({ latestEventType, bands, minScore, publishedAfter }: Triage): Record<string, number> {
  const ofBands = bands.flatMap(([lowest, highest], i) => [
    [`lowest${i}`, lowest],
    [`highest${i}`, highest],
  ]);
  const all = Object.entries({ latestEventType, minScore, publishedAfter });
  return Object.fromEntries([...ofBands, ...all.filter(([, value]) => value !== undefined)]);
}

function comparisons({ tables }: SessionDialect, values: Record<string, number>, bands: number): (SQL | undefined)[] {
  const { latestEventType, score, publishTime } = tables.advisories;
  const when = (name: string, condition: SQL) => (Object.hasOwn(values, name) ? condition : undefined);
  const ofBand = (_: unknown, i: number) =>
    between(score, sql.placeholder(`lowest${i}`), sql.placeholder(`highest${i}`));
  return [
    when("latestEventType", eq(latestEventType, sql`cast(${sql.placeholder("latestEventType")} as bigint)`)),
    or(...Array.from({ length: bands }, ofBand)),
    when("minScore", gte(score, sql.placeholder("minScore"))),
    when("publishedAfter", gt(publishTime, sql.placeholder("publishedAfter"))),
  ];
}
