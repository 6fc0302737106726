// The severity of a vulnerability as people read it.
import {
  type Advisory,
  Severity_Type,
} from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";

/** The ratings of CVSS 3.1, section 5, with the lowest score of each. */
const ratings = [
  ["critical", 9],
  ["high", 7],
  ["medium", 4],
  ["low", 0.1],
  ["none", 0],
] as const;

/** A rating. */
export type Rating = (typeof ratings)[number][0];

/** Returns the score and the rating of an advisory; undefined if it has no vector of CVSS 3. */
export function severityOf({ severities }: Advisory): { readonly score: number; readonly rating: Rating } | undefined {
  const vector = severities.find(({ type }) => type === Severity_Type.CVSS_V3)?.score;
  const score = vector === undefined ? undefined : baseScore(vector);
  const found = score === undefined ? undefined : ratings.find(([, lowest]) => score >= lowest);
  return score !== undefined && found ? { score, rating: found[0] } : undefined;
}

const impacts = { H: 0.56, L: 0.22, N: 0 };
const weights: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  AV: { N: 0.85, A: 0.62, L: 0.55, P: 0.2 },
  AC: { L: 0.77, H: 0.44 },
  UI: { N: 0.85, R: 0.62 },
  C: impacts,
  I: impacts,
  A: impacts,
};
const privileges: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  U: { N: 0.85, L: 0.62, H: 0.27 },
  C: { N: 0.85, L: 0.68, H: 0.5 },
};

/** The base score of CVSS 3.1, section 7.1. */
function baseScore(vector: string): number | undefined {
  const metrics = new Map(vector.split("/").map((part) => part.split(":") as [string, string]));
  const scope = metrics.get("S") ?? "";
  const weightOf = (name: string) => weights[name]?.[metrics.get(name) ?? ""] ?? Number.NaN;
  const privilege = privileges[scope]?.[metrics.get("PR") ?? ""] ?? Number.NaN;
  const lost = 1 - (1 - weightOf("C")) * (1 - weightOf("I")) * (1 - weightOf("A"));
  const impact = scope === "U" ? 6.42 * lost : 7.52 * (lost - 0.029) - 3.25 * (lost - 0.02) ** 15;
  const exploitability = 8.22 * weightOf("AV") * weightOf("AC") * privilege * weightOf("UI");
  const sum = (scope === "U" ? 1 : 1.08) * (impact + exploitability);
  const score = impact <= 0 ? 0 : roundUp(Math.min(sum, 10));
  return Number.isNaN(sum) ? undefined : score;
}

/** CVSS 3.1, appendix A: rounds up to one decimal, in integers. */
function roundUp(value: number): number {
  const whole = Math.round(value * 100_000);
  return whole % 10_000 === 0 ? whole / 100_000 : (Math.floor(whole / 10_000) + 1) / 10;
}
