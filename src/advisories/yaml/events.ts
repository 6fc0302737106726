// Events of an advisory in the YAML format. One that cannot be read leaves out the advisory: it may be the event that holds.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type AdvisoryEvent,
  type AdvisoryEvent_DetectionSchema,
  AdvisoryEventSchema,
  ReviewState,
} from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import type { JsonObject } from "../../base/json.ts";
import { BadRecord, isNothing, type Members } from "../document.ts";
import { reasonOfWord } from "../reasons.ts";

/** An event, and its members that only the format has. */
export interface ReadEvent {
  readonly event: AdvisoryEvent;
  readonly milliseconds: number;
  readonly extra: JsonObject;
}

type Type = NonNullable<MessageInitShape<typeof AdvisoryEventSchema>["type"]>;
type Detection = MessageInitShape<typeof AdvisoryEvent_DetectionSchema>;

/** Reads an event. Throws BadRecord when it has no time or no known type. */
export function readEvent(event: Members, author: string): ReadEvent {
  const time = event.requiredTime("timestamp");
  // The data is missing now and then.
  const data = isNothing(event.value("data")) ? undefined : event.object("data");
  const scan = isNothing(data?.value("data")) ? undefined : data?.object("data");
  const type = readType(event, data, scan);
  const content = { author, reviewState: ReviewState.APPROVED, createTime: time.timestamp, type };
  const rest = { ...data?.rest(), data: unlessEmpty(scan?.rest() ?? {}) };
  return {
    event: create(AdvisoryEventSchema, content),
    milliseconds: time.milliseconds,
    extra: withoutUndefined({ ...event.rest(), timestamp: time.raw || undefined, data: unlessEmpty(rest) }),
  };
}

/** Returns the type with its data. `scan` is the data of a detection. */
function readType(event: Members, data: Members | undefined, scan: Members | undefined): Type {
  const word = event.requiredText("type");
  const found = caseOfWord(word);
  switch (found) {
    case undefined:
      throw new BadRecord(event.pathOf("type"), `is not a type of event: ${JSON.stringify(word.slice(0, 60))}`);
    case "detection":
      return { case: found, value: readDetection(data, scan) };
    case "fixed":
      return { case: found, value: { fixedVersion: data?.text("fixed-version") ?? "", note: noteOf(data) } };
    case "falsePositiveDetermination":
      return { case: found, value: { type: readReason(data), note: noteOf(data) } };
    default:
      return { case: found, value: { note: noteOf(data) } };
  }
}

function noteOf(data: Members | undefined): string {
  return data?.text("note") ?? "";
}

function readReason(data: Members | undefined) {
  const word = data?.text("type") ?? "";
  const reason = reasonOfWord(word);
  if (word !== "" && reason === 0) data?.drop("type", `is not a reason: ${JSON.stringify(word.slice(0, 60))}`);
  return reason;
}

/** Reads a detection. It counts as a detection even if its type is unknown. */
function readDetection(data: Members | undefined, scan: Members | undefined): Detection {
  const kind = data?.text("type") ?? "";
  const text = (name: string) => scan?.text(name) ?? "";
  switch (kind) {
    case "scan/v1": {
      const fields = Object.entries(scanFields).map(([name, field]) => [field, text(name)]);
      return { type: { case: "scanv1", value: Object.fromEntries(fields) } };
    }
    case "nvdapi":
      return { type: { case: "nvdapi", value: { cpeSearched: text("cpeSearched"), cpeFound: text("cpeFound") } } };
    case "manual":
    case "":
      return { type: { case: "manual", value: {} } };
    default:
      data?.drop("type", `is not a type of detection: ${JSON.stringify(kind.slice(0, 60))}`);
      return {};
  }
}

function withoutUndefined(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Returns the members that are not undefined; undefined when there are none. */
export function unlessEmpty(members: JsonObject): JsonObject | undefined {
  const kept = withoutUndefined(members);
  return Object.keys(kept).length === 0 ? undefined : kept;
}

/** The type of an event in its message. */
type EventCase = Exclude<AdvisoryEvent["type"]["case"], undefined>;

const words = {
  detection: "detection",
  fixed: "fixed",
  "true-positive-determination": "truePositiveDetermination",
  "false-positive-determination": "falsePositiveDetermination",
  "analysis-not-planned": "analysisNotPlanned",
  "fix-not-planned": "fixNotPlanned",
  "pending-upstream-fix": "pendingUpstreamFix",
} as const satisfies Readonly<Record<string, EventCase>>;

/** The types of events that the format has. */
type YamlCase = (typeof words)[keyof typeof words];

const cases: ReadonlyMap<string, YamlCase> = new Map(Object.entries(words));

/** Returns the type of an event by its word; undefined for any other text. */
function caseOfWord(word: string): YamlCase | undefined {
  return cases.get(word);
}

/** The members of a scan, and the fields of the message that they are. */
const scanFields = {
  subpackageName: "subpackage",
  componentID: "componentId",
  componentName: "component",
  componentVersion: "componentVersion",
  componentType: "componentType",
  componentLocation: "componentLocation",
  scanner: "scanner",
} as const;
