// OSV records: one for each advisory that is fixed or a false positive.
import { fromTimestamp } from "../../../aip/timestamps.ts";
import { ecosystemOf } from "../libraries.ts";
import { changeTime, type Published, timeText } from "../published.ts";
import { purlOf } from "../purl.ts";
import { reasonWord } from "../statuses.ts";
import { toOsvSeverity } from "./cvss.ts";
import { recordId, schemaVersion } from "./osv-names.ts";

/** An OSV record. */
export interface OsvRecord {
  readonly id: string;
  readonly modified: string;
  readonly [member: string]: unknown;
}

/** The record of an advisory; undefined when its state is none that OSV can say. */
export function toOsv({ advisory, event }: Published, ecosystem: string, distribution: string): OsvRecord | undefined {
  const { advisoryId: id, aliases, artifactName: name, artifactType: type, componentType } = advisory;
  const fixed =
    event.type.case === "fixed"
      ? event.type.value.fixedVersion
      : event.type.case === "falsePositiveDetermination"
        ? "0"
        : "";
  if (fixed === "" || name === "") return undefined;
  const system = type === "library" ? (ecosystemOf(componentType) ?? ecosystem) : ecosystem;
  const artifact = { name, type, architecture: advisory.artifactArchitecture };
  const purl = purlOf(artifact, componentType, distribution);
  const severity = severityOf(advisory.severities);
  return {
    schema_version: schemaVersion,
    id: recordId(id),
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
  return severities.map(({ type, score }) => toOsvSeverity(type, score)).filter((severity) => severity !== undefined);
}
