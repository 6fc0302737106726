// Version ranges in the words of `vers` (https://github.com/package-url/vers-spec), which CSAF 2.0 §3.1.2.3.2 asks for.
import { create } from "@bufbuild/protobuf";
import {
  type RangeEvent,
  RangeEventSchema,
  RangeEventType,
  type VersionRange,
  VersionRangeSchema,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { extraOf, parseExtra } from "../extra.ts";
import { orderIn, type VersionOrder } from "../versions/order.ts";
import { eventsInOrder } from "../versions/ranges.ts";

/** The versions that a branch of a product tree names. Neither versions nor ranges means all versions. */
export interface NamedVersions {
  readonly versions: readonly string[];
  readonly ranges: readonly VersionRange[];
}

const { INTRODUCED, FIXED, LAST_AFFECTED, LIMIT } = RangeEventType;

/** The type of a range that a text describes: its `extra` has the text, and it has no events. */
export const textRange = "TEXT";

/**
 * Reads the name of a branch `product_version_range`. What the events of a range cannot say stays a text: `>` and `!=`, and texts that
 * are not `vers`.
 */
export function parseRange(text: string): NamedVersions {
  const [, scheme = "", list = ""] = /^vers:([a-z0-9.+-]+)\/(.+)$/.exec(text.trim()) ?? [];
  if (list === "*") return { versions: [], ranges: [] };
  const parsed = list === "" ? undefined : parseConstraints(list);
  if (!parsed) {
    return { versions: [], ranges: [create(VersionRangeSchema, { type: textRange, extra: extraOf({ text }) })] };
  }
  const type = scheme === "semver" ? "SEMVER" : "ECOSYSTEM";
  // A limit holds for all events of a range: each interval is one of its own.
  const ranges = parsed.intervals.map((events) =>
    create(VersionRangeSchema, { type, events, extra: extraOf({ scheme }) }),
  );
  return { versions: parsed.versions, ranges };
}

/** Reads the constraints after the scheme; undefined if events cannot express them. */
function parseConstraints(list: string): { versions: string[]; intervals: RangeEvent[][] } | undefined {
  const versions: string[] = [];
  const intervals: RangeEvent[][] = [];
  let isOpen = false;
  for (const constraint of list.split("|")) {
    const [, comparator = "", escaped = ""] = /^\s*([<>=!]*)\s*([^<>=!\s]+)\s*$/.exec(constraint) ?? [];
    const version = unescapeVersion(escaped);
    if (version === undefined || version === "" || version === "*") return undefined;
    if (comparator === "" || comparator === "=") {
      versions.push(version);
    } else if (comparator === ">=" && !isOpen) {
      intervals.push([newEvent(INTRODUCED, version)]);
      isOpen = true;
    } else if ((comparator === "<" || comparator === "<=") && (isOpen || intervals.length === 0)) {
      if (!isOpen) intervals.push([newEvent(INTRODUCED, "0")]);
      // The end of a range does not mean that the version after it has a fix.
      intervals.at(-1)!.push(newEvent(comparator === "<" ? LIMIT : LAST_AFFECTED, version));
      isOpen = false;
    } else {
      return undefined;
    }
  }
  return { versions, intervals };
}

function newEvent(type: RangeEventType, version: string): RangeEvent {
  return create(RangeEventSchema, { type, version });
}

function unescapeVersion(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns the name of a branch `product_version_range`; undefined for an empty range. `purlType` is the type of the
 * package URL. `order` compares versions of the product: a `vers` lists versions in ascending order, and events may be
 * in any order.
 */
export function rangeText(range: VersionRange, purlType: string, order: VersionOrder): string | undefined {
  const { type, repo, extra } = range;
  const said = parseExtra(extra);
  const events = eventsInOrder(range, orderIn(range, order)) ?? range.events;
  if (events.length === 0) return typeof said.text === "string" && said.text !== "" ? said.text : undefined;
  if (type === "GIT") return `commits of ${repo || "the repository"}: ${events.map(eventText).join(", ")}`;
  // A `vers` has intervals. Other events are words: their order is not known here.
  if (!areIntervals(events)) return events.map(eventText).join(", ");
  const scheme = typeof said.scheme === "string" ? said.scheme : type === "SEMVER" ? "semver" : purlType || "generic";
  const constraints = events.flatMap(constraintText);
  return `vers:${scheme}/${constraints.length === 0 ? "*" : constraints.join("|")}`;
}

function areIntervals(events: readonly RangeEvent[]): boolean {
  return events.every(({ type, version }, i) => {
    const isBegin = type === INTRODUCED;
    return version !== "" && isBegin === (i % 2 === 0) && (i === 0 || !isBegin || version !== "0");
  });
}

function constraintText({ type, version }: RangeEvent): string[] {
  const escaped = encodeURIComponent(version).replaceAll("%3A", ":").replaceAll("%2B", "+");
  if (type === INTRODUCED) return version === "0" ? [] : [`>=${escaped}`];
  return [`${type === LAST_AFFECTED ? "<=" : "<"}${escaped}`];
}

function eventText({ type, version }: RangeEvent): string {
  if (type === INTRODUCED) return version === "0" ? "from the first" : `from ${version}`;
  if (type === LAST_AFFECTED) return `up to and including ${version}`;
  return type === FIXED ? `before the fix ${version}` : `before ${version}`;
}
