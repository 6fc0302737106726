// The words of the YAML format for the types of events.
import type { AdvisoryEvent } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";

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

/** The type of an event by its word; undefined for any other text. */
export function caseOfWord(word: string): YamlCase | undefined {
  return cases.get(word);
}

/** The members of a scan, and the fields of the message that they are. */
export const scanFields = {
  subpackageName: "subpackage",
  componentID: "componentId",
  componentName: "component",
  componentVersion: "componentVersion",
  componentType: "componentType",
  componentLocation: "componentLocation",
  scanner: "scanner",
} as const;
