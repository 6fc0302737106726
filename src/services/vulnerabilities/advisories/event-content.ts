// The content of advisory events: how it is stored, shown and checked.
import { create, fromJson, type JsonObject, type JsonValue, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import {
  type AdvisoryEvent,
  AdvisoryEventSchema,
  EventTypeFilter,
  ReviewState,
} from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { type FieldViolation, failedPrecondition } from "../../../aip/errors.ts";
import { textLength } from "../../../aip/text-length.ts";
import { fromTimestamp, toTimestamp } from "../../../aip/timestamps.ts";
import type { AdvisoryEventRow } from "../../../storage/vulnerabilities/advisories.ts";
import { advisoryLimits } from "../limits.ts";

/** The number of `componentLocationChanged`, which version 1 has and EventTypeFilter does not. */
export const locationChanged = 9;

const eventTypes: Readonly<Record<string, number>> = {
  detection: EventTypeFilter.DETECTION,
  truePositiveDetermination: EventTypeFilter.TRUE_POSITIVE_DETERMINATION,
  fixed: EventTypeFilter.FIXED,
  falsePositiveDetermination: EventTypeFilter.FALSE_POSITIVE_DETERMINATION,
  analysisNotPlanned: EventTypeFilter.ANALYSIS_NOT_PLANNED,
  fixNotPlanned: EventTypeFilter.FIX_NOT_PLANNED,
  pendingUpstreamFix: EventTypeFilter.PENDING_UPSTREAM_FIX,
  patched: EventTypeFilter.PATCHED,
  componentLocationChanged: locationChanged,
};

const { PENDING, APPROVED, REQUEST_CHANGES, REJECTED } = ReviewState;
const reviewStates: readonly number[] = [PENDING, APPROVED, REQUEST_CHANGES, REJECTED];

/** The content of an event. */
export interface EventContent {
  /** Milliseconds since the epoch; undefined if not given. */
  readonly time: number | undefined;
  readonly author: string;
  readonly reviewer: string;
  readonly reviewState: number;
  /** The number of the type in EventTypeFilter, or `locationChanged`; 0 if none. */
  readonly type: number;
  /** The protobuf JSON of the event, without uid and time. */
  readonly said: JsonObject;
}

/** Converts a message to its content. */
export function contentOf(event: AdvisoryEvent): EventContent {
  const { author, reviewer, reviewState, createTime } = event;
  const { $typeName: _, createTime: _time, ...rest } = event;
  const said = toJson(AdvisoryEventSchema, create(AdvisoryEventSchema, { ...rest, uid: "" })) as JsonObject;
  const type = eventTypes[event.type.case ?? ""] ?? EventTypeFilter.UNSPECIFIED;
  return { time: createTime && fromTimestamp(createTime), author, reviewer, reviewState, type, said };
}

/** Converts a stored event to its content. */
export function contentOfRow({
  createTime,
  author,
  reviewer,
  reviewState,
  type,
  event,
}: AdvisoryEventRow): EventContent {
  const { createTime: _, ...said } = event as JsonObject;
  return { time: createTime, author, reviewer, reviewState, type, said };
}

/** Builds the row of an event. `time` is in milliseconds since the epoch. */
export function eventRow(
  uid: string,
  advisoryUid: string,
  content: EventContent,
  time: number,
  derived = false,
): AdvisoryEventRow {
  const { author, reviewer, reviewState, type, said } = content;
  const createTime = toJson(AdvisoryEventSchema, create(AdvisoryEventSchema, { createTime: toTimestamp(time) }));
  const event = { ...said, ...(createTime as JsonObject) };
  return { uid, advisoryUid, createTime: time, author, reviewer, reviewState, type, event, derived };
}

/** Converts a stored event to a message; undefined for a type that only version 1 has. */
export function eventMessage(row: AdvisoryEventRow): MessageInitShape<typeof AdvisoryEventSchema> | undefined {
  if (row.type === locationChanged) return undefined;
  return { ...fromJson(AdvisoryEventSchema, row.event as JsonValue), uid: row.uid };
}

/** Checks an event. Returns the violations with paths relative to it. */
export function checkEvent(content: EventContent): FieldViolation[] {
  const found: FieldViolation[] = [];
  if (content.author === "") found.push({ field: "author", description: "author is required" });
  // Published contract: every event has a review state.
  if (!reviewStates.includes(content.reviewState))
    found.push({ field: "review_state", description: "must be PENDING, APPROVED, REQUEST_CHANGES or REJECTED" });
  if (content.type === EventTypeFilter.UNSPECIFIED)
    found.push({ field: "type", description: "exactly one event type must be set" });
  if (content.time !== undefined && !isTime(content.time)) found.push({ field: "create_time", description: timeRule });
  if (sizeOf(content) > advisoryLimits.eventBytes)
    found.push({ field: "findings", description: `the event must not exceed ${advisoryLimits.eventBytes} bytes` });
  return found;
}

/** Checks the events of an advisory. Violations of `optional` fields are ignored. */
export function checkEvents(events: readonly EventContent[], optional: readonly string[] = []): FieldViolation[] {
  const found: FieldViolation[] = [];
  if (events.length > advisoryLimits.events) found.push({ field: "events", description: countRule });
  for (const [i, event] of events.entries()) {
    const wrong = checkEvent(event).filter(({ field }) => !optional.includes(field));
    found.push(...wrong.map(({ field, description }) => ({ field: `events[${i}].${field}`, description })));
  }
  return found;
}

/** Throws if an advisory would have too many events, or events that are too long in total. */
export function refuseTooManyEvents(events: readonly AdvisoryEventRow[], advisoryUid: string): void {
  if (events.length > advisoryLimits.events) throw failedPrecondition("TOO_MANY_EVENTS", countRule, advisoryUid);
  const length = events.reduce((sum, { event }) => sum + textLength(event), 0);
  if (length > advisoryLimits.eventsLength) throw failedPrecondition("TOO_MANY_EVENTS", lengthRule, advisoryUid);
}

const lengthRule = `the events of an advisory may have at most ${advisoryLimits.eventsLength} characters in total`;

const countRule = `an advisory may have at most ${advisoryLimits.events} events`;

// google.protobuf.Timestamp: from year 1 to year 9999.
const [firstTime, lastTime] = [-62_135_596_800_000, 253_402_300_799_999];

/** The description of a violation by a time. */
export const timeRule = "must be a time from year 1 to year 9999";

/** Whether a time can be formatted as a timestamp. */
export function isTime(milliseconds: number): boolean {
  return milliseconds >= firstTime && milliseconds <= lastTime;
}

function sizeOf({ said }: EventContent): number {
  return Buffer.byteLength(JSON.stringify(said));
}

/** Returns the content as canonical text, without the time. Events with equal content have equal texts. */
export function canonicalContent({ said }: EventContent): string {
  return canonical(said);
}

/** Formats JSON with sorted members: databases and versions may order them differently. */
function canonical(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

/** Whether the review of an event is final. */
export function isFinal({ reviewState }: EventContent): boolean {
  return reviewState === APPROVED || reviewState === REJECTED;
}
