// The events that a statement stands for (docs/advisories/records.md).
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type AdvisoryEvent,
  AdvisoryEventSchema,
  ReviewState,
} from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import {
  type ProductStatement,
  ProductStatus,
  type RangeEvent,
  RangeEventType,
  ResponsePlan,
  type VersionRange,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { reasonOfJustification } from "../reasons.ts";
import { orderIn, orderOf, unknownOrder, type VersionOrder } from "../versions/order.ts";
import { eventsInOrder, placeIn } from "../versions/ranges.ts";

const { AFFECTED, NOT_AFFECTED, FIXED, UNDER_INVESTIGATION } = ProductStatus;
const { INTRODUCED, LAST_AFFECTED, FIXED: FIXED_IN } = RangeEventType;

type EventType = NonNullable<MessageInitShape<typeof AdvisoryEventSchema>["type"]>;

/** An event, and the status that it stands for. */
export interface StatementEvent {
  readonly event: AdvisoryEvent;
  readonly status: ProductStatus;
  /** Whether the event gives the present status, as far as the statement knows. */
  readonly holds: boolean;
}

/** Returns the events of a statement, those of a log in its order. Events without a time are undated. */
export function eventsOfStatement(statement: ProductStatement, author: string): StatementEvent[] {
  if (statement.events.length > 0) return eventsOfLog(statement.events, author);
  return typesOf(statement).map(([status, type]) => ({
    event: create(AdvisoryEventSchema, { author, reviewState: ReviewState.APPROVED, type }),
    status,
    holds: true,
  }));
}

/** A log is kept as it is. What was approved last holds. */
function eventsOfLog(log: readonly AdvisoryEvent[], source: string): StatementEvent[] {
  const events = log.map((event) => {
    const { author, reviewState, createTime } = event;
    return create(AdvisoryEventSchema, {
      ...event,
      uid: "",
      author: author || source,
      reviewState: reviewState || ReviewState.APPROVED,
      ...(createTime && { createTime }),
    });
  });
  const last = events.findLast(({ reviewState }) => reviewState === ReviewState.APPROVED);
  return events.map((event) => ({ event, status: statusOfEvent(event), holds: event === last }));
}

function statusOfEvent({ type }: AdvisoryEvent): ProductStatus {
  switch (type.case) {
    case "falsePositiveDetermination":
      return NOT_AFFECTED;
    case "fixed":
    case "patched":
      return FIXED;
    case "detection":
    case "analysisNotPlanned":
      return UNDER_INVESTIGATION;
    default:
      return AFFECTED;
  }
}

function typesOf(statement: ProductStatement): (readonly [ProductStatus, EventType])[] {
  const { status, versions, impact, notes, action, plan } = statement;
  switch (status) {
    case AFFECTED: {
      const ranges = decidingRanges(statement);
      const fixes = fixesOf(ranges).map((version) => [FIXED, fixedIn(version)] as const);
      return isFixed(statement, ranges) ? fixes : [...fixes, [AFFECTED, affected(plan, action || notes)]];
    }
    case NOT_AFFECTED: {
      const type = reasonOfJustification(statement.justification);
      return [[NOT_AFFECTED, { case: "falsePositiveDetermination", value: { type, note: impact } }]];
    }
    case FIXED: {
      const named = versions.length > 0 ? versions : startsOf(statement.ranges);
      return (named.length > 0 ? distinct(named) : [""]).map((version) => [FIXED, fixedIn(version)]);
    }
    case UNDER_INVESTIGATION:
      return [[UNDER_INVESTIGATION, underInvestigation(plan, notes)]];
    default:
      return [];
  }
}

function affected(plan: ResponsePlan, note: string): EventType {
  if (plan === ResponsePlan.FIX_NOT_PLANNED) return { case: "fixNotPlanned", value: { note } };
  if (plan === ResponsePlan.PENDING_UPSTREAM_FIX) return { case: "pendingUpstreamFix", value: { note } };
  return { case: "truePositiveDetermination", value: { note } };
}

function underInvestigation(plan: ResponsePlan, note: string): EventType {
  if (plan === ResponsePlan.ANALYSIS_NOT_PLANNED) return { case: "analysisNotPlanned", value: { note } };
  return { case: "detection", value: { type: { case: "manual", value: {} } } };
}

function fixedIn(fixedVersion: string): EventType {
  return { case: "fixed", value: { fixedVersion } };
}

/** Returns the ranges that count. Next to ranges of versions, those of commits repeat the same. */
function decidingRanges({ ranges }: ProductStatement): readonly VersionRange[] {
  const versioned = ranges.filter(({ type }) => type !== "GIT");
  return versioned.length > 0 ? versioned : ranges;
}

/**
 * Whether every affected version has a fix after it: each range ends with one, and no version is named that is in none of the ranges.
 */
function isFixed({ product, versions }: ProductStatement, ranges: readonly VersionRange[]): boolean {
  const order = product ? orderOf(product) : unknownOrder;
  if (ranges.length === 0 || !ranges.every((range) => endsInFix(range, orderIn(range, order)))) return false;
  const isOutside = (version: string) =>
    ranges.every((range) => placeIn(range, version, orderIn(range, order)).where === "outside");
  return ranges.some(({ type }) => type === "GIT") || !versions.some(isOutside);
}

/** Whether no version is affected behind the last fix of the range. */
function endsInFix(range: VersionRange, order: VersionOrder): boolean {
  if (range.events.some(({ type }) => type === LAST_AFFECTED)) return false;
  const known = eventsInOrder(range, order);
  if (known) return known.at(-1)?.type === FIXED_IN;
  // The order is not known: each beginning must be followed by its fix.
  const isFixAt = (i: number) => range.events[i]?.type === FIXED_IN;
  const isEnded = ({ type }: RangeEvent, i: number) => (i > 0 && isFixAt(i)) || (type === INTRODUCED && isFixAt(i + 1));
  return range.events.length > 0 && range.events.every(isEnded);
}

function fixesOf(ranges: readonly VersionRange[]): string[] {
  return distinct(ranges.flatMap(({ events }) => events.filter(isFix).map(({ version }) => version)));
}

function startsOf(ranges: readonly VersionRange[]): string[] {
  const starts = ranges.flatMap(({ events }) => events.filter(({ type }) => type === INTRODUCED));
  return starts.map(({ version }) => version).filter((version) => version !== "0");
}

function isFix({ type }: RangeEvent): boolean {
  return type === FIXED_IN;
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
