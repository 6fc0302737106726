import { VulnerabilitySeverity } from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";

const { CRITICAL, HIGH, MEDIUM, LOW, UNSPECIFIED } = VulnerabilitySeverity;

/** The lowest score of each severity in tenths, from the highest on (CVSS 3.1, section 5). */
const levels: readonly (readonly [least: number, severity: VulnerabilitySeverity])[] = [
  [90, CRITICAL],
  [70, HIGH],
  [40, MEDIUM],
  [1, LOW],
];

/** Returns the severity of a score in tenths. */
export function severityOf(score: number): VulnerabilitySeverity {
  return levels.find(([least]) => score >= least)?.[1] ?? UNSPECIFIED;
}

/** Returns the lowest score of a severity in tenths; -1 for that without a score. */
export function leastScoreOf(severity: VulnerabilitySeverity): number {
  return levels.find(([, level]) => level === severity)?.[0] ?? -1;
}
