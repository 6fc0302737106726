// What an event of an advisory says, as it is stored, shown and checked.
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

/** What an event says. */
export interface EventContent {
  /** Milliseconds since the epoch; undefined where nobody said when. */
  readonly time: number | undefined;
  readonly author: string;
  readonly reviewer: string;
  readonly reviewState: number;
  /** The number of the type in EventTypeFilter, or `locationChanged`; 0 when there is none. */
  readonly type: number;
  /** The protobuf JSON of what the event says, without uid and time. */
  readonly said: JsonObject;
}

/** What a message says. */
export function contentOf(event: AdvisoryEvent): EventContent {
  const { author, reviewer, reviewState, createTime } = event;
  const { $typeName: _, createTime: _time, ...rest } = event;
  const said = toJson(AdvisoryEventSchema, create(AdvisoryEventSchema, { ...rest, uid: "" })) as JsonObject;
  const type = eventTypes[event.type.case ?? ""] ?? EventTypeFilter.UNSPECIFIED;
  return { time: createTime && fromTimestamp(createTime), author, reviewer, reviewState, type, said };
}

/** What a stored event says. */
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

/** An event as it is stored. */
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

/** A stored event as a message; undefined for one that this version of the API has no word for. */
export function eventMessage(row: AdvisoryEventRow): MessageInitShape<typeof AdvisoryEventSchema> | undefined {
  if (row.type === locationChanged) return undefined;
  return { ...fromJson(AdvisoryEventSchema, row.event as JsonValue), uid: row.uid };
}

/** What is wrong with an event. Paths are relative to it. */
export function checkEvent(content: EventContent): FieldViolation[] {
  const found: FieldViolation[] = [];
  if (content.author === "") found.push({ field: "author", description: "author is required" });
  // The published contract: an event is always in some state of review.
  if (!reviewStates.includes(content.reviewState))
    found.push({ field: "review_state", description: "must be PENDING, APPROVED, REQUEST_CHANGES or REJECTED" });
  if (content.type === EventTypeFilter.UNSPECIFIED)
    found.push({ field: "type", description: "exactly one of the types of events must be set" });
  if (content.time !== undefined && !isTime(content.time)) found.push({ field: "create_time", description: timeRule });
  if (sizeOf(content) > advisoryLimits.eventBytes)
    found.push({ field: "findings", description: `the event must not exceed ${advisoryLimits.eventBytes} bytes` });
  return found;
}

/** What is wrong with the events of an advisory, but for the fields that its source need not fill. */
export function checkEvents(events: readonly EventContent[], optional: readonly string[] = []): FieldViolation[] {
  const found: FieldViolation[] = [];
  if (events.length > advisoryLimits.events) found.push({ field: "events", description: countRule });
  for (const [i, event] of events.entries()) {
    const wrong = checkEvent(event).filter(({ field }) => !optional.includes(field));
    found.push(...wrong.map(({ field, description }) => ({ field: `events[${i}].${field}`, description })));
  }
  return found;
}

/** Throws when an advisory would come to have more events than it may, or events that say more than they may together. */
export function refuseTooManyEvents(events: readonly AdvisoryEventRow[], advisoryUid: string): void {
  if (events.length > advisoryLimits.events) throw failedPrecondition("TOO_MANY_EVENTS", countRule, advisoryUid);
  const length = events.reduce((sum, { event }) => sum + textLength(event), 0);
  if (length > advisoryLimits.eventsLength) throw failedPrecondition("TOO_MANY_EVENTS", lengthRule, advisoryUid);
}

const lengthRule = `the events of an advisory say at most ${advisoryLimits.eventsLength} characters together`;

const countRule = `an advisory has at most ${advisoryLimits.events} events`;

// google.protobuf.Timestamp: from year 1 to year 9999.
const [firstTime, lastTime] = [-62_135_596_800_000, 253_402_300_799_999];

/** What is said of a time that is none. */
export const timeRule = "must be a time from year 1 to year 9999";

/** Whether a time can be told again. */
export function isTime(milliseconds: number): boolean {
  return milliseconds >= firstTime && milliseconds <= lastTime;
}

function sizeOf({ said }: EventContent): number {
  return Buffer.byteLength(JSON.stringify(said));
}

/** What an event says as a text: two that say the same have the same, whenever they were. */
export function canonicalContent({ said }: EventContent): string {
  return canonical(said);
}

/** JSON with its members in one order: databases and versions may give them in another. */
function canonical(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

/** Whether nothing about the review of the event can change any more. */
export function isFinal({ reviewState }: EventContent): boolean {
  return reviewState === APPROVED || reviewState === REJECTED;
}
