// How the outcome of one check looks: in the test of a login provider, and in the trial of a token.
import { CheckOutcome } from "../../../gen/gatehouse/access/v1/access_pb.ts";
import type { ProviderCheckOutcome } from "../../../gen/gatehouse/iam/v1/provider_tests_pb.ts";

const passed = { icon: "check-circle-fill", text: "try.passed", tone: "good" } as const;
const failed = { icon: "x-circle-fill", text: "try.failed", tone: "critical" } as const;
const skipped = { icon: "skip", text: "try.skipped", tone: "neutral" } as const;

/** Returns icon, text and tone. The two services have one enum each, with the same values. */
export function outcomeOf(outcome: CheckOutcome | ProviderCheckOutcome) {
  const value: number = outcome;
  if (value === CheckOutcome.PASSED) return passed;
  return value === CheckOutcome.FAILED ? failed : skipped;
}
