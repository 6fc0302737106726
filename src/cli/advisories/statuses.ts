// The words that formats have for events, side by side.
import { AdvisoryEvent_FalsePositiveDetermination_Type as Reason } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import type { EventType } from "./record.ts";

/** The types of events as the YAML format and our notes in other formats call them. */
export const eventWords = {
  detection: "detection",
  "true-positive-determination": "truePositiveDetermination",
  fixed: "fixed",
  "false-positive-determination": "falsePositiveDetermination",
  "analysis-not-planned": "analysisNotPlanned",
  "fix-not-planned": "fixNotPlanned",
  "pending-upstream-fix": "pendingUpstreamFix",
} as const;

/** The reasons of a false positive as the YAML format calls them. */
export const reasonWords: ReadonlyMap<string, Reason> = new Map([
  ["vulnerability-record-analysis-contested", Reason.VULNERABILITY_RECORD_ANALYSIS_CONTESTED],
  ["component-vulnerability-mismatch", Reason.COMPONENT_VULNERABILITY_MISMATCH],
  ["vulnerable-code-version-not-used", Reason.VULNERABLE_CODE_VERSION_NOT_USED],
  ["vulnerable-code-not-included-in-package", Reason.VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE],
  ["vulnerable-code-not-in-execution-path", Reason.VULNERABLE_CODE_NOT_IN_EXECUTION_PATH],
  ["vulnerable-code-cannot-be-controlled-by-adversary", Reason.VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY],
  ["inline-mitigations-exist", Reason.INLINE_MITIGATIONS_EXIST],
]);

/** The justifications of VEX, which OpenVEX and CSAF share; the first of each is what a reason becomes. */
const justifications: readonly (readonly [justification: string, reasons: readonly Reason[]])[] = [
  [
    "vulnerable_code_not_present",
    [
      Reason.VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE,
      Reason.VULNERABLE_CODE_VERSION_NOT_USED,
      Reason.VULNERABILITY_RECORD_ANALYSIS_CONTESTED,
    ],
  ],
  ["component_not_present", [Reason.COMPONENT_VULNERABILITY_MISMATCH]],
  ["vulnerable_code_not_in_execute_path", [Reason.VULNERABLE_CODE_NOT_IN_EXECUTION_PATH]],
  ["vulnerable_code_cannot_be_controlled_by_adversary", [Reason.VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY]],
  ["inline_mitigations_already_exist", [Reason.INLINE_MITIGATIONS_EXIST]],
];

/** The justification of a reason; that of code that is not there for a reason that is not said. */
export function justificationOf(reason: Reason): string {
  return justifications.find(([, reasons]) => reasons.includes(reason))?.[0] ?? "vulnerable_code_not_present";
}

/** The reason of a justification; none for one that is not known. */
export function reasonOf(justification: string): Reason {
  return justifications.find(([name]) => name === justification)?.[1][0] ?? Reason.UNSPECIFIED;
}

/** The word of a reason; empty for none. */
export function reasonWord(reason: Reason): string {
  return [...reasonWords].find(([, number]) => number === reason)?.[0] ?? "";
}

/** The word of a type of events; empty for one that has none. */
export function eventWord(type: EventType): string {
  return Object.entries(eventWords).find(([, name]) => name === type.case)?.[0] ?? "";
}

/** Somebody knows of it, and that is all. */
export const underInvestigation: EventType = {
  case: "detection",
  value: { type: { case: "manual", value: {} } },
};

/** A false positive. */
export function falsePositive(reason: Reason, note = ""): EventType {
  return { case: "falsePositiveDetermination", value: { type: reason, note } };
}

/** A fix. */
export function fixedIn(fixedVersion: string): EventType {
  return { case: "fixed", value: { fixedVersion } };
}

/** One of the types that have a note and nothing else. */
export function noted(
  name: "truePositiveDetermination" | "analysisNotPlanned" | "fixNotPlanned" | "pendingUpstreamFix",
  note: string,
): EventType {
  return { case: name, value: { note } };
}
