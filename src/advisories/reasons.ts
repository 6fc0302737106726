// Reasons why a product is not affected: the words of VEX, which OpenVEX and CSAF share, and those of the YAML format.
import { AdvisoryEvent_FalsePositiveDetermination_Type as Reason } from "../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";

const words: ReadonlyMap<string, Reason> = new Map([
  ["vulnerability-record-analysis-contested", Reason.VULNERABILITY_RECORD_ANALYSIS_CONTESTED],
  ["component-vulnerability-mismatch", Reason.COMPONENT_VULNERABILITY_MISMATCH],
  ["vulnerable-code-version-not-used", Reason.VULNERABLE_CODE_VERSION_NOT_USED],
  ["vulnerable-code-not-included-in-package", Reason.VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE],
  ["vulnerable-code-not-in-execution-path", Reason.VULNERABLE_CODE_NOT_IN_EXECUTION_PATH],
  ["vulnerable-code-cannot-be-controlled-by-adversary", Reason.VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY],
  ["inline-mitigations-exist", Reason.INLINE_MITIGATIONS_EXIST],
]);

/** The justifications of VEX with the reasons that they cover. A justification becomes the first of its reasons. */
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

/** All reasons in the words of the YAML format. */
export const reasonWords: readonly string[] = [...words.keys()];

/** Returns the reason by its word of the YAML format; UNSPECIFIED for any other text. */
export function reasonOfWord(word: string): Reason {
  return words.get(word) ?? Reason.UNSPECIFIED;
}

/** Returns the word of the YAML format; empty for UNSPECIFIED. */
export function wordOfReason(reason: Reason): string {
  return [...words].find(([, each]) => each === reason)?.[0] ?? "";
}

/** Returns the reason by its justification in VEX; UNSPECIFIED for any other text. */
export function reasonOfJustification(justification: string): Reason {
  return justifications.find(([name]) => name === justification)?.[1][0] ?? Reason.UNSPECIFIED;
}

/** Returns the justification in VEX; empty for UNSPECIFIED. */
export function justificationOfReason(reason: Reason): string {
  return justifications.find(([, reasons]) => reasons.includes(reason))?.[0] ?? "";
}
