// Vectors of CVSS (https://www.first.org/cvss/), checked strictly: scanners may read texts that the library tolerates in another way.
import calculator from "ae-cvss-calculator";

/** A valid vector. */
export interface Cvss {
  /** The scale as OSV names it. */
  readonly type: "CVSS_V2" | "CVSS_V3" | "CVSS_V4";
  readonly version: "2.0" | "3.0" | "3.1" | "4.0";
  /** The vector. One of CVSS 4.0 has its metrics in the order of the specification, which allows no other. */
  readonly vector: string;
  /** The score of the base metrics alone. */
  readonly baseScore: number;
  /** The rating of the score. CVSS 2 has none; the ranges of its successors apply. */
  readonly baseSeverity: "NONE" | "LOW" | "MEDIUM" | "HIGH" | "CRITICAL";
}

const scales = [
  { type: "CVSS_V4", version: "4.0", prefix: "CVSS:4.0/", Vector: calculator.Cvss4P0 },
  { type: "CVSS_V3", version: "3.1", prefix: "CVSS:3.1/", Vector: calculator.Cvss3P1 },
  { type: "CVSS_V3", version: "3.0", prefix: "CVSS:3.0/", Vector: calculator.Cvss3P0 },
  { type: "CVSS_V2", version: "2.0", prefix: "", Vector: calculator.Cvss2 },
] as const;

/** Parses a vector; undefined when it is not valid in the version of CVSS that it names. */
export function parseCvss(text: string): Cvss | undefined {
  const { type, version, prefix, Vector } = scales.find((scale) => text.startsWith(scale.prefix))!;
  const metrics = text.slice(prefix.length).split("/");
  const names = metrics.map((metric) => metric.split(":")[0]);
  // The library ignores empty metrics, second values and blanks, and takes the last of two metrics of one name.
  if (!metrics.every((metric) => /^[A-Za-z]+:[A-Za-z]+$/.test(metric))) return undefined;
  if (new Set(names).size < names.length) return undefined;
  try {
    const vector = new Vector(text);
    if (!vector.isBaseFullyDefined()) return undefined;
    const scores = vector.calculateScores();
    const baseScore = ("baseMetricsOnly" in scores ? scores.baseMetricsOnly : scores.base) ?? 0;
    const ordered = version === "4.0" ? prefix + inOrder(metrics, vector.toString(true)) : text;
    return { type, version, vector: ordered, baseScore, baseSeverity: severityOf(baseScore) };
  } catch {
    // The library throws for a metric or a value that it does not know.
    return undefined;
  }
}

/** The score of an advisory without a valid vector. */
export const noScore = -1;

/**
 * Returns the highest base score of vectors in tenths, as integers; `noScore` without a valid one. A vector of CVSS 2 counts only if
 * no other is valid: its scale has no rating above high.
 */
export function highestScore(vectors: readonly string[]): number {
  const parsed = vectors.flatMap((vector) => parseCvss(vector) ?? []);
  const newer = parsed.filter(({ type }) => type !== "CVSS_V2");
  const scores = (newer.length > 0 ? newer : parsed).map(({ baseScore }) => Math.round(baseScore * 10));
  return Math.max(noScore, ...scores);
}

/** CVSS 4.0 §7: the metrics in the order of table 23. `complete` is a vector with all of them. */
function inOrder(metrics: readonly string[], complete: string): string {
  const order = complete.split("/").map((metric) => metric.split(":")[0]);
  const placeOf = (metric: string) => order.indexOf(metric.split(":")[0]);
  return [...metrics].sort((a, b) => placeOf(a) - placeOf(b)).join("/");
}

/** CVSS 3.1 §5 and CVSS 4.0 §6: the qualitative rating. */
function severityOf(score: number): Cvss["baseSeverity"] {
  if (score === 0) return "NONE";
  if (score < 4) return "LOW";
  if (score < 7) return "MEDIUM";
  return score < 9 ? "HIGH" : "CRITICAL";
}
