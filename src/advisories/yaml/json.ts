// Events as the YAML format has them.
import {
  type AdvisoryEvent,
  ReviewState,
} from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { isJsonObject, type JsonObject } from "../../json.ts";
import { wordOfReason } from "../reasons.ts";
import { timestampText } from "../times.ts";
import { scanFields, wordOfCase } from "./words.ts";

type Type = AdvisoryEvent["type"];
type Detection = Extract<Type, { case: "detection" }>["value"];

/** The event, with what only the format says; undefined when the format has no word for it. */
export function eventJson(
  { createTime, reviewState, type, issue, findings }: AdvisoryEvent,
  extra: JsonObject,
  loss: (what: string) => void,
): JsonObject | undefined {
  const word = type.case && wordOfCase(type.case);
  if (reviewState !== ReviewState.APPROVED) loss("an event that is not approved");
  else if (!word) loss("a fix by patches");
  else if (!createTime) loss("an event without a time");
  if (reviewState !== ReviewState.APPROVED || !word || !createTime) return undefined;
  if (issue !== undefined || findings.length > 0) loss("the issue or the findings of an event");
  const { data: more, ...rest } = extra;
  const data = merged(dataOf(type), more);
  return { timestamp: timestampText(createTime), type: word, ...rest, ...(Object.keys(data).length > 0 && { data }) };
}

function dataOf({ case: type, value }: Type): JsonObject {
  switch (type) {
    case "detection":
      return detectionData(value);
    case "fixed":
      return said({ "fixed-version": value.fixedVersion, note: value.note });
    case "falsePositiveDetermination":
      return said({ type: wordOfReason(value.type), note: value.note });
    case "patched":
    case undefined:
      return {};
    default:
      return said({ note: value.note });
  }
}

function detectionData({ type: { case: type, value } }: Detection): JsonObject {
  switch (type) {
    case "scanv1":
      return {
        type: "scan/v1",
        data: said(Object.fromEntries(Object.entries(scanFields).map(([name, field]) => [name, value[field]]))),
      };
    case "nvdapi":
      return { type: "nvdapi", data: said({ cpeSearched: value.cpeSearched, cpeFound: value.cpeFound }) };
    case "manual":
      return { type: "manual" };
    default:
      return {};
  }
}

/** The members that are not empty. */
function said(members: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ""));
}

/** Both objects, and also both of what they have under one name. */
function merged(a: JsonObject, b: unknown): JsonObject {
  if (!isJsonObject(b)) return a;
  const both = Object.entries(b).map(([name, value]) => {
    const known = a[name];
    return [name, isJsonObject(known) ? merged(known, value) : value] as const;
  });
  return { ...a, ...Object.fromEntries(both) };
}
