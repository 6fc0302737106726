// Reads ranges of versions. If a part of a range cannot be read, its record is left out: the rest could mean fewer versions.
import { create } from "@bufbuild/protobuf";
import {
  type RangeEvent,
  RangeEventSchema,
  RangeEventType,
  type VersionRange,
  VersionRangeSchema,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { JsonObject } from "../../base/json.ts";
import { BadRecord, type Members } from "../document.ts";
import { extraOf } from "../extra.ts";
import { objectsOf } from "./items.ts";
import { eventJson, eventNames } from "./json.ts";

/** A range, and the `database_specific` of it as a member of an object. */
export interface ReadRange {
  readonly range: VersionRange;
  readonly specific: JsonObject;
}

/** Reads the ranges of a package. Throws BadRecord if one of them cannot be read. A range without events says nothing. */
export function readRanges(item: Members): ReadRange[] {
  return item
    .strict()
    .objects("ranges")
    .flatMap((range) => readRange(range) ?? []);
}

function readRange(range: Members): ReadRange | undefined {
  const type = range.text("type");
  const items = range.strict().objects("events");
  if (items.length === 0) {
    range.drop("events", "must not be empty");
    return undefined;
  }
  const events = items.map(readEvents);
  if (type === "") range.drop("type", "is missing");
  const flat = events.flat();
  const more = items.map((event) => event.rest());
  const specific = objectsOf(range, ["database_specific"]);
  const extra = {
    ...specific,
    events: more.every((each) => Object.keys(each).length === 0)
      ? undefined
      : events.map((said, i) => ({ ...Object.assign({}, ...said.map(eventJson)), ...more[i] })),
  };
  const message = { type, repo: range.text("repo"), events: flat, extra: extraOf({ ...extra, ...range.rest() }) };
  return { range: create(VersionRangeSchema, message), specific };
}

/** OSV allows one event in an object; older records have several. */
function readEvents(item: Members): RangeEvent[] {
  const events = eventNames.flatMap(([name, type]) => {
    const version = item.strict().text(name);
    return version === "" ? [] : [create(RangeEventSchema, { type, version })];
  });
  if (events.length === 0)
    throw new BadRecord(item.path, `must have one of ${eventNames.map(([name]) => name).join(", ")}`);
  return events;
}

/** Whether a range has no versions: an affected version would come before all versions. */
export function isEmptyRange({ events }: VersionRange): boolean {
  const isFixed = events.some(({ type }) => type === RangeEventType.FIXED);
  return isFixed && events.every(({ type, version }) => version === "0" && type !== RangeEventType.LAST_AFFECTED);
}
