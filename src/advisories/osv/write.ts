// Writes OSV (https://ossf.github.io/osv-schema/): a record for each public id.
import {
  type AdvisoryRecord,
  type AdvisoryStatements,
  RecordFormat,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Losses, WriteOptions, Writer } from "../writing.ts";
import type { Loss } from "./entries.ts";
import { recordJson } from "./json.ts";
import { mergeRecords } from "./merge.ts";
import { recordOfOthers } from "./others.ts";

/** An OSV record. */
export interface OsvRecord extends JsonObject {
  readonly id: string;
  readonly modified: string;
}

/** Writes a list of records. */
export const writeOsv: Writer = async function* (advisories, options, losses) {
  let before = "[\n";
  for await (const record of osvRecordsOf(advisories, options, losses)) {
    yield before + JSON.stringify(record, null, 2);
    before = ",\n";
  }
  yield before === "[\n" ? "[]\n" : "\n]\n";
};

/** Returns the records of the advisories, and those that their source has withdrawn, which come without an advisory. */
export async function* osvRecordsOf(
  advisories: AsyncIterable<AdvisoryStatements>,
  options: WriteOptions,
  losses: Losses,
): AsyncGenerator<OsvRecord> {
  const written = new Set<string>();
  for await (const [id, group] of groupsOf(advisories)) {
    const record = recordOfGroup(group, options, (what) => losses.add(what, id));
    if (!record) continue;
    if (written.has(record.id)) losses.add("a record whose id another one has", id);
    else yield record;
    written.add(record.id);
  }
}

/** Advisories that have one public id, which are next to each other; each record without an advisory is a group. */
async function* groupsOf(
  advisories: AsyncIterable<AdvisoryStatements>,
): AsyncGenerator<readonly [id: string, group: readonly AdvisoryStatements[]]> {
  let [id, group]: [string, AdvisoryStatements[]] = ["", []];
  for await (const each of advisories) {
    const next = each.advisory?.advisoryId ?? "";
    if (group.length > 0 && (next === "" || next !== id)) {
      yield [id, group];
      group = [];
    }
    group.push(each);
    id = next === "" ? (each.records[0]?.advisoryId ?? "") : next;
  }
  if (group.length > 0) yield [id, group];
}

/** Returns the record of one public id. */
function recordOfGroup(group: readonly AdvisoryStatements[], options: WriteOptions, loss: Loss): OsvRecord | undefined {
  const parts = group.flatMap(({ advisory, records }) => {
    const live = records.filter(({ withdrawTime }) => !withdrawTime);
    const others = live.filter(({ format }) => format !== RecordFormat.OSV);
    const own = live.filter((record) => isWhole(record, advisory?.advisoryId));
    const made = advisory && others.length > 0 ? recordOfOthers(advisory, others, options, loss) : undefined;
    return [...own.map(recordJson), ...(made ? [made] : [])];
  });
  if (parts.length > 0) return toOsvRecord(mergeRecords(parts, loss));
  const withdrawn = group.flatMap(({ advisory, records }) =>
    records.filter((record) => record.withdrawTime && isWhole(record, advisory?.advisoryId)),
  );
  return withdrawn.length === 0 ? undefined : toOsvRecord(mergeRecords(withdrawn.map(recordJson), loss));
}

/** Whether it is a record of OSV with everything it says: the one that gave the advisory its public id. */
function isWhole({ format, advisoryId }: AdvisoryRecord, id: string | undefined): boolean {
  return format === RecordFormat.OSV && (id === undefined || advisoryId === id);
}

function toOsvRecord(record: JsonObject): OsvRecord {
  return { ...record, id: String(record.id), modified: String(record.modified) };
}
