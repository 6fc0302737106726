// Makes an OSV record from the data of other formats, or of the API, about an advisory.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Advisory } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import type {
  AdvisoryRecord,
  RecordReference,
  RecordSeverity,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { fromTimestamp } from "../../aip/timestamps.ts";
import type { JsonObject } from "../../base/json.ts";
import { parseCvss } from "../cvss.ts";
import { holdingRecords } from "../derive/holding.ts";
import { timeText } from "../times.ts";
import type { WriteOptions } from "../writing.ts";
import { entriesOf, type Loss, unique } from "./entries.ts";
import { recordId, referenceTypes, schemaVersion } from "./names.ts";

/** Returns the record; undefined when OSV can say nothing of it. */
export function recordOfOthers(
  advisory: Advisory,
  all: readonly AdvisoryRecord[],
  options: WriteOptions,
  loss: Loss,
): JsonObject | undefined {
  const { advisoryId: id } = advisory;
  const records = holdingRecords(id, all);
  const statements = records.flatMap((record) => record.statements);
  if (statements.length === 0) loss("an advisory without a status");
  const affected = entriesOf(statements, options.ecosystem, loss);
  if (affected.length === 0) return undefined;
  const upstream = others(id, [...advisory.aliases, ...records.flatMap(idsOf)]);
  const said = records.flatMap(timesOf).sort(earliestFirst);
  const changes = [...said, ...millisecondsOf(records.map(({ modifyTime }) => modifyTime))].sort(earliestFirst);
  const changed = advisory.updateTime ? fromTimestamp(advisory.updateTime) : options.time;
  const severity = severitiesOf(records, loss);
  const references = referencesOf(records, loss);
  return {
    schema_version: schemaVersion,
    id: recordId(id),
    modified: timeText(changes.at(-1) ?? changed),
    ...(said[0] === undefined ? {} : { published: timeText(said[0]) }),
    ...(upstream.length > 0 ? { upstream } : {}),
    // Feeds of this kind have the own id there, too; so the id of a record with `x_` is known.
    related: [id, ...others(id, [...upstream, ...records.flatMap(({ related }) => related)])],
    ...textsOf(records),
    ...(severity.length > 0 ? { severity } : {}),
    affected,
    ...(references.length > 0 ? { references } : {}),
  };
}

/** Returns the ids of the vulnerability. */
function idsOf({ vulnerability, aliases, upstream }: AdvisoryRecord): string[] {
  return [vulnerability, ...aliases, ...upstream];
}

function others(own: string, ids: readonly string[]): string[] {
  return [...new Set(ids)].filter((id) => id !== own && id !== "");
}

/** Returns the times of the source's statements that the record has. */
function timesOf({ publishTime, statements }: AdvisoryRecord): number[] {
  const said = statements.flatMap(({ time, events }) => [time, ...events.map(({ createTime }) => createTime)]);
  return millisecondsOf([publishTime, ...said]);
}

function millisecondsOf(times: readonly (Timestamp | undefined)[]): number[] {
  return times.filter((time) => time !== undefined).map(fromTimestamp);
}

function earliestFirst(a: number, b: number): number {
  return a - b;
}

/** OSV has one summary: the others are a part of the details. */
function textsOf(records: readonly AdvisoryRecord[]): JsonObject {
  const [summary = "", ...more] = others(
    "",
    records.map((record) => record.summary),
  );
  const details = others("", [...more, ...records.map((record) => record.details)]).join("\n\n");
  return { ...(summary === "" ? {} : { summary }), ...(details === "" ? {} : { details }) };
}

/** A record has severities of its own for a product, or they are the same for all. */
function severitiesOf(records: readonly AdvisoryRecord[], loss: Loss): JsonObject[] {
  const said = records.flatMap(({ severities, statements }) => {
    const own = statements.flatMap((statement) => statement.severities);
    return own.length > 0 ? own : severities;
  });
  return unique(said.flatMap((severity) => severityOf(severity, loss)));
}

/** The scores of Ubuntu, which OSV knows. */
const ubuntuScores: readonly string[] = ["negligible", "low", "medium", "high", "critical"];

function severityOf({ type, score }: RecordSeverity, loss: Loss): JsonObject[] {
  if (type === "Ubuntu" && ubuntuScores.includes(score)) return [{ type, score }];
  const cvss = parseCvss(score);
  if (!cvss) loss("a severity that is not valid");
  return cvss ? [{ type: cvss.type, score: cvss.vector }] : [];
}

function referencesOf(records: readonly AdvisoryRecord[], loss: Loss): JsonObject[] {
  return unique(records.flatMap(({ references }) => references.flatMap((each) => referenceOf(each, loss))));
}

function referenceOf({ type, url, summary }: RecordReference, loss: Loss): JsonObject[] {
  if (summary !== "") loss("the name of a reference");
  if (isUri(url)) return [{ type: referenceTypes.includes(type) ? type : "WEB", url }];
  loss("a reference that is not a URI");
  return [];
}

/** RFC 3986 §2: the characters of a URI. */
function isUri(text: string): boolean {
  return URL.canParse(text) && /^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/.test(text);
}
