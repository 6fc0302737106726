// The filters of advisories by severity and publication, which the published list does not have.
import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import {
  type ListAdvisoriesRequest,
  ListAdvisoriesRequestSchema,
} from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { AdvisorySeverity } from "../../../../gen/gatehouse/vulnerabilities/v1/search_pb.ts";
import { noScore } from "../../../advisories/cvss.ts";
import { fromTimestamp } from "../../../aip/timestamps.ts";
import { newViolations } from "../../../aip/violations.ts";
import type { Condition } from "../../../storage/list/condition.ts";
import { triageCondition } from "../../../storage/vulnerabilities/triage-condition.ts";
import { conditionOf } from "./advisories.ts";

/** The filters of a request. */
export interface TriageRequest {
  readonly list?: ListAdvisoriesRequest | undefined;
  readonly severities: readonly AdvisorySeverity[];
  readonly minScore?: number | undefined;
  readonly publishedAfter?: Timestamp | undefined;
}

/** The lowest and the highest score of each severity, in tenths. */
const bands: readonly (readonly [AdvisorySeverity, number, number])[] = [
  [AdvisorySeverity.CRITICAL, 90, 100],
  [AdvisorySeverity.HIGH, 70, 89],
  [AdvisorySeverity.MEDIUM, 40, 69],
  [AdvisorySeverity.LOW, 1, 39],
  [AdvisorySeverity.NONE, noScore, 0],
];

/** Returns the severity of a score in tenths. */
export function severityOf(score: number): AdvisorySeverity {
  return bands.find(([, lowest, highest]) => score >= lowest && score <= highest)?.[0] ?? AdvisorySeverity.UNSPECIFIED;
}

/** Returns the condition of the filters of a request; undefined if they keep all advisories. */
export function triageOf(request: TriageRequest): Condition | undefined {
  const { list = create(ListAdvisoriesRequestSchema), severities, minScore, publishedAfter } = request;
  const asked = new Set(severities);
  const { latestEventType, ...others } = list;
  return triageCondition(
    {
      latestEventType: latestEventType || undefined,
      bands: bands.flatMap(([severity, ...band]) => (asked.has(severity) ? [band] : [])),
      // In thousandths first: 1.1 * 10 is more than 11.
      minScore: minScore === undefined ? undefined : Math.ceil(Math.round(minScore * 1000) / 100),
      publishedAfter: publishedAfter && fromTimestamp(publishedAfter),
    },
    conditionOf({ ...others }),
  );
}

/** Throws INVALID_ARGUMENT for what the rules of the fields do not tell: the range of scores, and what the ignored fields must not have. */
export function checkTriage({ list, minScore }: TriageRequest): void {
  const violations = newViolations();
  if (minScore !== undefined && !(minScore >= 0 && minScore <= 10))
    violations.add("min_score", "must be between 0 and 10");
  for (const [field, value] of Object.entries({ "list.page_size": list?.pageSize, "list.skip": list?.skip }))
    if ((value ?? 0) < 0) violations.add(field, "must not be negative");
  violations.throwIfAny();
}
