// The words of OpenVEX, and sentences for data that it has no member for.
import { ProductStatus, ResponsePlan } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";

/** The context of the documents that the writer writes. */
export const context = "https://openvex.dev/ns/v0.2.0";

/** The statuses by their words. */
export const statuses: ReadonlyMap<string, ProductStatus> = new Map([
  ["not_affected", ProductStatus.NOT_AFFECTED],
  ["affected", ProductStatus.AFFECTED],
  ["fixed", ProductStatus.FIXED],
  ["under_investigation", ProductStatus.UNDER_INVESTIGATION],
]);

/** Returns the word of a status; undefined for none. */
export function wordOfStatus(status: ProductStatus): string | undefined {
  return [...statuses].find(([, each]) => each === status)?.[0];
}

/** The justifications that OpenVEX has. */
export const justifications: readonly string[] = [
  "component_not_present",
  "vulnerable_code_not_present",
  "vulnerable_code_not_in_execute_path",
  "vulnerable_code_cannot_be_controlled_by_adversary",
  "inline_mitigations_already_exist",
];

/** OpenVEX requires an action for affected products. Its Go library writes this sentence if the author gives none. */
export const noAction = "No action statement provided";

/** OpenVEX requires a reason for products that are not affected. The sentence states that the source gave none. */
export const noReason = "No justification or impact statement provided";

/** OpenVEX has no member for plans: a plan is the first sentence of the action, or of the notes where nothing is affected. */
const plans: readonly (readonly [plan: ResponsePlan, sentence: string])[] = [
  [ResponsePlan.FIX_NOT_PLANNED, "No fix is planned."],
  [ResponsePlan.PENDING_UPSTREAM_FIX, "A fix is awaited from upstream."],
  [ResponsePlan.ANALYSIS_NOT_PLANNED, "No analysis is planned."],
];

/** Writes a plan and the text after it. */
export function joinPlan(plan: ResponsePlan, text: string): string {
  const sentence = plans.find(([each]) => each === plan)?.[1] ?? "";
  return [sentence, text].filter((part) => part !== "").join(" ");
}

/** Splits a text that `joinPlan` has written. */
export function splitPlan(text: string): { readonly plan: ResponsePlan; readonly text: string } {
  for (const [plan, sentence] of plans) {
    if (text === sentence) return { plan, text: "" };
    const rest = text.startsWith(`${sentence} `) ? text.slice(sentence.length + 1) : "";
    if (rest !== "") return { plan, text: rest };
  }
  return { plan: ResponsePlan.UNSPECIFIED, text };
}
