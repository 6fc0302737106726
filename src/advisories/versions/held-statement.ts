// The statement that a log of events comes to: the last event that nobody has yet to approve holds.
import { create } from "@bufbuild/protobuf";
import {
  type AdvisoryEvent,
  ReviewState,
} from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import {
  type ProductStatement,
  ProductStatementSchema,
  ProductStatus,
  ResponsePlan,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { justificationOfReason } from "../reasons.ts";
import { rangeBefore } from "./ranges.ts";

/** The fields of a statement that an event of a log sets. */
type Held = Partial<
  Pick<ProductStatement, "status" | "versions" | "ranges" | "justification" | "impact" | "notes" | "plan">
>;

/**
 * Returns the statement with the status of the last event of its log that counts, and without the log. A statement without a log is
 * returned unchanged. Undefined if no event counts, or if the last one is a fix that names no version.
 */
export function heldStatement(statement: ProductStatement): ProductStatement | undefined {
  if (statement.events.length === 0) return statement;
  // Documents have no reviews: all of their events count.
  const states: readonly ReviewState[] = [ReviewState.APPROVED, ReviewState.UNSPECIFIED];
  const event = statement.events.findLast(({ reviewState }) => states.includes(reviewState));
  const held = event && heldOf(event);
  if (!held) return undefined;
  const { product, release, subcomponents, severities, extra } = statement;
  return create(ProductStatementSchema, {
    ...(product && { product }),
    release,
    subcomponents,
    severities,
    extra,
    ...held,
    ...(event.createTime && { time: event.createTime }),
  });
}

function heldOf({ type }: AdvisoryEvent): Held | undefined {
  const { AFFECTED, NOT_AFFECTED, FIXED, UNDER_INVESTIGATION } = ProductStatus;
  const { FIX_NOT_PLANNED, PENDING_UPSTREAM_FIX, ANALYSIS_NOT_PLANNED } = ResponsePlan;
  switch (type.case) {
    case "detection":
      return { status: UNDER_INVESTIGATION };
    case "analysisNotPlanned":
      return { status: UNDER_INVESTIGATION, plan: ANALYSIS_NOT_PLANNED, notes: type.value.note };
    case "truePositiveDetermination":
      return { status: AFFECTED, notes: type.value.note };
    case "fixNotPlanned":
      return { status: AFFECTED, plan: FIX_NOT_PLANNED, notes: type.value.note };
    case "pendingUpstreamFix":
      return { status: AFFECTED, plan: PENDING_UPSTREAM_FIX, notes: type.value.note };
    case "falsePositiveDetermination": {
      const { type: reason, note } = type.value;
      return { status: NOT_AFFECTED, justification: justificationOfReason(reason), impact: note };
    }
    case "fixed":
      return type.value.fixedVersion === ""
        ? undefined
        : { status: AFFECTED, ranges: [rangeBefore(type.value.fixedVersion)], notes: type.value.note };
    case "patched":
      return type.value.patchedVersions.length === 0
        ? undefined
        : { status: FIXED, versions: type.value.patchedVersions, notes: type.value.note };
    default:
      return undefined;
  }
}
