// Reads ranges of versions. A range of which a part cannot be read is dropped: the rest could mean more versions, or fewer.
import { create } from "@bufbuild/protobuf";
import {
  type RangeEvent,
  RangeEventSchema,
  RangeEventType,
  type VersionRange,
  VersionRangeSchema,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Members } from "../document.ts";
import { extraOf } from "../extra.ts";
import { objectsOf } from "./items.ts";
import { eventJson, eventNames } from "./json.ts";

/** A range, and the `database_specific` of it as a member of an object. */
export interface ReadRange {
  readonly range: VersionRange;
  readonly specific: JsonObject;
}

/** Reads the ranges of a package. */
export function readRanges(item: Members): ReadRange[] {
  return item.objects("ranges").flatMap((range) => readRange(range) ?? []);
}

function readRange(range: Members): ReadRange | undefined {
  const type = range.text("type");
  const items = range.objects("events");
  const events = items.map(readEvents);
  const said = range.value("events");
  const isWhole = Array.isArray(said) && said.length === items.length && events.every(({ length }) => length > 0);
  if (!isWhole || events.length === 0) {
    range.drop("", "must have events, all of which can be read");
    return undefined;
  }
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
  return eventNames.flatMap(([name, type]) => {
    const version = item.text(name);
    return version === "" ? [] : [create(RangeEventSchema, { type, version })];
  });
}

/** Whether a range has no versions: an affected version would come before all versions. */
export function isEmptyRange({ events }: VersionRange): boolean {
  const isFixed = events.some(({ type }) => type === RangeEventType.FIXED);
  return isFixed && events.every(({ type, version }) => version === "0" && type !== RangeEventType.LAST_AFFECTED);
}
