// How the outcome of one check looks: in the test of a login provider, and in the trial of a token.
import { CheckOutcome } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import type { ProviderCheckOutcome } from "../../../../gen/gatehouse/iam/v1/provider_tests_pb.ts";

const passed = { mark: "✓", text: "try.passed", color: "good" } as const;
const failed = { mark: "✕", text: "try.failed", color: "danger" } as const;
const skipped = { mark: "–", text: "try.skipped", color: "muted" } as const;

/** Returns mark, text and color. The two services have one enum each, with the same values. */
export function outcomeOf(outcome: CheckOutcome | ProviderCheckOutcome) {
  const value: number = outcome;
  if (value === CheckOutcome.PASSED) return passed;
  return value === CheckOutcome.FAILED ? failed : skipped;
}
