// The words of CSAF 2.0, and default sentences for data that it requires and other formats lack.
import { ProductStatus } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";

const { AFFECTED, NOT_AFFECTED, FIXED, UNDER_INVESTIGATION } = ProductStatus;

/** The member of `product_status` that may stand for a product with any status. */
export const recommended = "recommended";

/** CSAF 2.0 §3.2.3.9: the members of `product_status`. The first of each status is the one that the writer takes. */
export const statusWords: ReadonlyMap<string, ProductStatus> = new Map([
  ["known_affected", AFFECTED],
  ["first_affected", AFFECTED],
  ["last_affected", AFFECTED],
  ["under_investigation", UNDER_INVESTIGATION],
  ["fixed", FIXED],
  ["first_fixed", FIXED],
  [recommended, FIXED],
  ["known_not_affected", NOT_AFFECTED],
]);

/** Returns the word for a status; undefined for none. */
export function wordOfStatus(status: ProductStatus): string | undefined {
  return [...statusWords].find(([, each]) => each === status)?.[0];
}

/** CSAF 2.0 §3.2.3.5.1: the labels of flags. */
export const flagLabels: readonly string[] = [
  "component_not_present",
  "inline_mitigations_already_exist",
  "vulnerable_code_cannot_be_controlled_by_adversary",
  "vulnerable_code_not_in_execute_path",
  "vulnerable_code_not_present",
];

/** CSAF 2.0 §3.2.3.12.1: the categories of remediations. */
export const remediationCategories: readonly string[] = [
  "mitigation",
  "no_fix_planned",
  "none_available",
  "vendor_fix",
  "workaround",
];

/** CSAF 2.0 §3.1.5.1: the categories of relationships in which the first product is a part of the second. */
export const partCategories: readonly string[] = [
  "default_component_of",
  "external_component_of",
  "optional_component_of",
];

/** CSAF 2.0 §3.1.5.1: the categories of relationships in which the second product is where the first one is installed. */
export const placeCategories: readonly string[] = ["installed_on", "installed_with"];

/** The profile VEX demands a reason for `known_not_affected`. It says that there is none. */
export const noReason = "The source gives no reason.";

/** The profile VEX demands an action for `known_affected`. It says that there is none. */
export const noAction = "The source names no action.";

/** The impact of a product under investigation that nobody is going to analyse. */
export const noAnalysis = "No analysis is planned.";

/** The details of a remediation without a text from the source. */
export const noFix = "No fix is planned.";
export const pendingFix = "A fix is awaited from upstream.";

/** The profile VEX demands notes. */
export function noteOn(vulnerability: string): string {
  return `The status of products with regard to ${vulnerability}.`;
}
