// Vectors of CVSS as their specifications have them (https://www.first.org/cvss/): every metric and its values.
import { Severity_Type } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";

/** The values that metrics may have: those of one letter together, others as a list. */
type Metrics = Readonly<Record<string, string | readonly string[]>>;

interface Scale {
  readonly name: string;
  /** What a vector begins with. */
  readonly prefix: RegExp;
  /** Those that a vector must have. */
  readonly required: Metrics;
  readonly optional: Metrics;
  /** Whether metrics have one order only. */
  readonly isOrdered?: boolean;
}

const levels = ["L", "M", "H", "ND"];

const scales: Readonly<Record<number, Scale>> = {
  [Severity_Type.CVSS_V2]: {
    name: "CVSS_V2",
    prefix: /^/,
    required: { AV: "NAL", AC: "LMH", Au: "MSN", C: "NPC", I: "NPC", A: "NPC" },
    optional: {
      ...{ E: ["U", "POC", "F", "H", "ND"], RL: ["OF", "TF", "W", "U", "ND"], RC: ["UC", "UR", "C", "ND"] },
      ...{ CDP: ["N", "L", "LM", "MH", "H", "ND"], TD: ["N", ...levels], CR: levels, IR: levels, AR: levels },
    },
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
    optional: {
      ...{ E: "XAPU", CR: "XHML", IR: "XHML", AR: "XHML" },
      ...{ MAV: "XNALP", MAC: "XLH", MAT: "XNP", MPR: "XNLH", MUI: "XNPA", MVC: "XNLH", MVI: "XNLH", MVA: "XNLH" },
      ...{ MSC: "XNLH", MSI: "XNLHS", MSA: "XNLHS", S: "XNP", AU: "XNY", R: "XAUI", V: "XDC", RE: "XLMH" },
      U: ["X", "Clear", "Green", "Amber", "Red"],
    },
    isOrdered: true,
  },
};

/** A severity as OSV has it; undefined for what is no vector of its scale. */
export function toOsvSeverity(type: Severity_Type, score: string): { type: string; score: string } | undefined {
  const scale = scales[type];
  const prefix = scale?.prefix.exec(score)?.[0];
  if (!scale || prefix === undefined) return undefined;
  const metrics = score.slice(prefix.length).split("/");
  const values: Metrics = { ...scale.required, ...scale.optional };
  const named = new Map(metrics.map((metric) => metric.split(":", 2) as [string, string]));
  const isSound =
    named.size === metrics.length &&
    [...named].every(([name, value = ""]) => Object.hasOwn(values, name) && [...values[name]!].includes(value));
  if (!isSound || !Object.keys(scale.required).every((name) => named.has(name))) return undefined;
  // CVSS 4.0 §7: metrics stand in the order of its table 23. Nothing else is wrong with a vector in which they do not.
  const ordered = Object.keys(values)
    .filter((name) => named.has(name))
    .map((name) => `${name}:${named.get(name)}`);
  return { type: scale.name, score: scale.isOrdered ? prefix + ordered.join("/") : score };
}
