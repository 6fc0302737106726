// Whether a version is in a range of OSV: https://ossf.github.io/osv-schema/#evaluation.
import { create } from "@bufbuild/protobuf";
import {
  RangeEventType as EventType,
  type RangeEvent,
  type VersionRange,
  VersionRangeSchema,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { VersionOrder } from "./order.ts";

/** The position of a version relative to a range. */
export interface Place {
  /** "unknown" when the order of the versions does not tell. */
  readonly where: "inside" | "outside" | "unknown";
  /** Inside: where the range ends next. Outside: the fix that ended it before the version. Empty when there is none. */
  readonly fixedVersion: string;
}

/** Returns the range of all versions before one with a fix. */
export function rangeBefore(version: string): VersionRange {
  const events = [
    { type: EventType.INTRODUCED, version: "0" },
    { type: EventType.FIXED, version },
  ];
  return create(VersionRangeSchema, { type: "ECOSYSTEM", events });
}

/** Finds a version in a range. The events may be in any order; of events at one version the later one counts. */
export function placeIn({ events }: VersionRange, version: string, order: VersionOrder): Place {
  // A range that only words describe, as CSAF has them.
  if (events.length === 0) return { where: "unknown", fixedVersion: "" };
  const same = events.findLast((event) => event.version === version && event.type !== EventType.LIMIT);
  const places = events.map((event) => compareWith(event, version, order));
  if (places.includes(undefined)) return same ? placeAt(same) : { where: "unknown", fixedVersion: "" };
  if (isBeyondLimits(events, places as number[])) return { where: "outside", fixedVersion: "" };
  const last = lastReached(events, places as number[], order);
  const hasBegun = last
    ? last.type === EventType.INTRODUCED
    : !events.some(({ type }) => type === EventType.INTRODUCED);
  if (hasBegun) return { where: "inside", fixedVersion: nextFix(events, places as number[], order) };
  return { where: "outside", fixedVersion: last?.type === EventType.FIXED ? last.version : "" };
}

/** "0" is before all versions, and the limit "*" after them. */
function compareWith(event: RangeEvent, version: string, order: VersionOrder): number | undefined {
  if (event.version === "0") return 1;
  return event.type === EventType.LIMIT && event.version === "*" ? -1 : order(version, event.version);
}

/** Without a known order, the range applies to equal versions only. */
function placeAt({ type, version }: RangeEvent): Place {
  return type === EventType.FIXED ? { where: "outside", fixedVersion: version } : { where: "inside", fixedVersion: "" };
}

/** A range with limits ends before the last of them. */
function isBeyondLimits(events: readonly RangeEvent[], places: readonly number[]): boolean {
  const limits = [...events.keys()].filter((i) => events[i]!.type === EventType.LIMIT);
  return limits.length > 0 && limits.every((i) => places[i]! >= 0);
}

/** Returns the last event that is not after the version. The last affected version is itself affected. */
function lastReached(events: readonly RangeEvent[], places: readonly number[], order: VersionOrder) {
  let last: RangeEvent | undefined;
  for (const [i, event] of events.entries()) {
    if (event.type === EventType.LIMIT || event.type === EventType.UNSPECIFIED) continue;
    const isReached = event.type === EventType.LAST_AFFECTED ? places[i]! > 0 : places[i]! >= 0;
    if (isReached && (!last || compareEvents(event, last, order) >= 0)) last = event;
  }
  return last;
}

/** Returns the first fix after the version; empty when there is none. */
function nextFix(events: readonly RangeEvent[], places: readonly number[], order: VersionOrder): string {
  const later = events.filter(({ type }, i) => type === EventType.FIXED && places[i]! < 0);
  return later.reduce((first, { version }) => (first === "" || order(version, first)! < 0 ? version : first), "");
}

/** Events whose order is not known are in the order of the document. */
function compareEvents(a: RangeEvent, b: RangeEvent, order: VersionOrder): number {
  return compareKnown(a, b, order) ?? 0;
}

function compareKnown(a: RangeEvent, b: RangeEvent, order: VersionOrder): number | undefined {
  if (a.version === "0" || b.version === "0") return Number(b.version === "0") - Number(a.version === "0");
  const isEndless = ({ type, version }: RangeEvent) => type === EventType.LIMIT && version === "*";
  if (isEndless(a) || isEndless(b)) return Number(isEndless(a)) - Number(isEndless(b));
  return order(a.version, b.version);
}

/**
 * Returns the events of a range in the order of their versions, since documents may have them in any. Undefined when the order of two of
 * them is not known. Events at one version stay in the order of the document.
 */
export function eventsInOrder({ events }: Pick<VersionRange, "events">, order: VersionOrder): RangeEvent[] | undefined {
  let isKnown = true;
  const sorted = events.toSorted((a, b) => {
    const compared = compareKnown(a, b, order);
    isKnown &&= compared !== undefined;
    return compared ?? 0;
  });
  return isKnown ? sorted : undefined;
}
