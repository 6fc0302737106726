// Vectors of CVSS as their specifications have them (https://www.first.org/cvss/): every metric and its values.
import { Severity_Type } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";

interface Scale {
  readonly name: string;
  /** What a vector begins with. */
  readonly prefix: RegExp;
  /** The values of each metric, the values of those that a vector must have first. */
  readonly required: Readonly<Record<string, string>>;
  readonly optional: Readonly<Record<string, string>>;
}

const scales: Readonly<Record<number, Scale>> = {
  [Severity_Type.CVSS_V2]: {
    name: "CVSS_V2",
    prefix: /^/,
    required: { AV: "NAL", AC: "LMH", Au: "MSN", C: "NPC", I: "NPC", A: "NPC" },
    optional: {},
  },
  [Severity_Type.CVSS_V3]: {
    name: "CVSS_V3",
    prefix: /^CVSS:3[.][01]\//,
    required: { AV: "NALP", AC: "LH", PR: "NLH", UI: "NR", S: "UC", C: "NLH", I: "NLH", A: "NLH" },
    optional: {
      ...{ E: "XUPFH", RL: "XOTWU", RC: "XURC", CR: "XLMH", IR: "XLMH", AR: "XLMH" },
      ...{ MAV: "XNALP", MAC: "XLH", MPR: "XNLH", MUI: "XNR", MS: "XUC", MC: "XNLH", MI: "XNLH", MA: "XNLH" },
    },
  },
  [Severity_Type.CVSS_V4]: {
    name: "CVSS_V4",
    prefix: /^CVSS:4[.]0\//,
    required: {
      ...{ AV: "NALP", AC: "LH", AT: "NP", PR: "NLH", UI: "NPA" },
      ...{ VC: "HLN", VI: "HLN", VA: "HLN", SC: "HLN", SI: "HLN", SA: "HLN" },
    },
    optional: { E: "XAPU", CR: "XHML", IR: "XHML", AR: "XHML", S: "XNP", AU: "XNY", R: "XAUI", V: "XDC", RE: "XLMH" },
  },
};

/** A severity as OSV has it; undefined for what is no vector of its scale. */
export function toOsvSeverity(type: Severity_Type, score: string): { type: string; score: string } | undefined {
  const scale = scales[type];
  if (!scale?.prefix.test(score)) return undefined;
  const metrics = score.replace(scale.prefix, "").split("/");
  const values = { ...scale.required, ...scale.optional };
  const named = new Map(metrics.map((metric) => metric.split(":", 2) as [string, string]));
  const isSound =
    named.size === metrics.length &&
    [...named].every(
      ([name, value = ""]) => value.length === 1 && Object.hasOwn(values, name) && values[name]!.includes(value),
    );
  const isWhole = Object.keys(scale.required).every((name) => named.has(name));
  return isSound && isWhole ? { type: scale.name, score } : undefined;
}
