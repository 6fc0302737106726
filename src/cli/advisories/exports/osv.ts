// OSV records: one for each advisory that is fixed or a false positive.
import { Severity_Type } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { fromTimestamp } from "../../../services/timestamps.ts";
import { changeTime, type Published, timeText } from "../published.ts";
import { purlOf } from "../purl.ts";
import { reasonWord } from "../statuses.ts";

const schemaVersion = "1.7.0";

/** The ecosystems of libraries, by what components are called here. */
const ecosystems: Readonly<Record<string, string>> = {
  "go-module": "Go",
  npm: "npm",
  python: "PyPI",
  "rust-crate": "crates.io",
  gem: "RubyGems",
  java: "Maven",
};

/** What the schema demands of the text of a severity. */
const scores: Readonly<Record<number, readonly [name: string, pattern: RegExp]>> = {
  [Severity_Type.CVSS_V2]: [
    "CVSS_V2",
    /^((AV:[NAL]|AC:[LMH]|Au:[MSN]|[CIA]:[NPC]|E:(U|POC|F|H|ND)|RL:(OF|TF|W|U|ND)|RC:(UC|UR|C|ND)|CDP:(N|L|LM|MH|H|ND)|TD:(N|L|M|H|ND)|[CIA]R:(L|M|H|ND))(\/|$)){6,}$/,
  ],
  [Severity_Type.CVSS_V3]: ["CVSS_V3", /^CVSS:3[.][01](\/[A-Z]{1,3}:[A-Z]){8,}$/],
  [Severity_Type.CVSS_V4]: ["CVSS_V4", /^CVSS:4[.]0(\/[A-Z]{1,3}:[A-Za-z]+){11,}$/],
};

/** An OSV record. */
export interface OsvRecord {
  readonly id: string;
  readonly modified: string;
  readonly [member: string]: unknown;
}

/** The record of an advisory; undefined when its state is none that OSV can say. */
export function toOsv({ advisory, event }: Published, ecosystem: string): OsvRecord | undefined {
  const { advisoryId: id, aliases, artifactName: name, artifactType: type, componentType } = advisory;
  const fixed =
    event.type.case === "fixed"
      ? event.type.value.fixedVersion
      : event.type.case === "falsePositiveDetermination"
        ? "0"
        : "";
  if (fixed === "" || name === "") return undefined;
  const system = type === "library" ? (ecosystems[componentType] ?? ecosystem) : ecosystem;
  const [distribution = ""] = ecosystem.toLowerCase().split(":");
  const artifact = { name, type, architecture: advisory.artifactArchitecture };
  const purl = purlOf(artifact, componentType, distribution);
  const severity = severityOf(advisory.severities);
  return {
    schema_version: schemaVersion,
    id,
    modified: timeText(changeTime(advisory)),
    ...(advisory.createTime ? { published: timeText(fromTimestamp(advisory.createTime)) } : {}),
    ...(aliases.length > 0 ? { upstream: aliases } : {}),
    related: [id, ...aliases],
    ...(severity.length > 0 ? { severity } : {}),
    affected: [
      {
        package: { ecosystem: system, name, purl },
        ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed }], ...specificOf(event) }],
      },
    ],
  };
}

function specificOf({ type }: Published["event"]) {
  if (type.case !== "falsePositiveDetermination") return {};
  const reason = reasonWord(type.value.type);
  return { database_specific: { false_positive: true, ...(reason === "" ? {} : { reason }) } };
}

function severityOf(severities: Published["advisory"]["severities"]) {
  return severities.flatMap(({ type, score }) => {
    const [name, pattern] = scores[type] ?? [];
    return pattern?.test(score) ? [{ type: name, score }] : [];
  });
}
