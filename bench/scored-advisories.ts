// Generated advisories with severities: one in twenty is critical.
import { create } from "@bufbuild/protobuf";
import {
  type Advisory,
  AdvisoryEvent_TruePositiveDeterminationSchema,
  Severity_Type,
  SeveritySchema,
} from "../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { populateAdvisories } from "./advisory-population.ts";
import { newRandom } from "./random.ts";

/** Vectors of CVSS, and how many of twenty advisories have them. One of twenty has none. */
const vectors: readonly (readonly [vector: string, of20: number])[] = [
  ["CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", 1],
  ["CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H", 6],
  ["CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:N/A:N", 9],
  ["CVSS:3.1/AV:N/AC:H/PR:L/UI:N/S:U/C:L/I:N/A:N", 3],
];
const twenty = vectors.flatMap(([vector, count]) => Array.from({ length: count }, () => vector));

/** Yields so many advisories. Half of those that were only detected are affected, as a reviewer has found. */
export function* populateScored(count: number): Generator<Advisory> {
  // Severities have a seed of their own: those of neighbours, which share a package, differ.
  const random = newRandom("severities");
  for (const advisory of populateAdvisories(newRandom("advisories"), count)) {
    const score = twenty[random.below(20)];
    const last = advisory.events.at(-1);
    if (last?.type.case === "detection" && random.below(2) === 0)
      last.type = {
        case: "truePositiveDetermination",
        value: create(AdvisoryEvent_TruePositiveDeterminationSchema, {}),
      };
    if (score !== undefined) advisory.severities = [create(SeveritySchema, { type: Severity_Type.CVSS_V3, score })];
    yield advisory;
  }
}
