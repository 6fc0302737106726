// Selects the statements about a product that their own source has not superseded.

import {
  type AdvisoryRecord,
  type ProductStatement,
  RecordFormat,
  type VersionRange,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { fromTimestamp } from "../../aip/timestamps.ts";

/** A statement, and the record that has it. */
export interface SaidStatement {
  readonly record: AdvisoryRecord;
  readonly statement: ProductStatement;
}

/**
 * Returns the statements about one product that hold. Within one source a later statement supersedes an earlier one on the same release,
 * subcomponents and versions; everything else holds at the same time. Statements whose source says no time supersede nothing.
 */
export function holdingStatements<S extends SaidStatement>(said: readonly S[]): S[] {
  if (said.length < 2) return [...said];
  const latest = new Map<string, number>();
  const dated = said.map((each) => ({ each, scope: scopeOf(each), time: saidTime(each) }));
  for (const { scope, time } of dated)
    if (time !== undefined) latest.set(scope, Math.max(time, latest.get(scope) ?? time));
  return dated.filter(({ scope, time }) => time === undefined || time === latest.get(scope)).map(({ each }) => each);
}

/**
 * Returns the time of a source's statement, in milliseconds since the epoch; undefined if unknown. A changed document repeats the
 * statements that it keeps. Statements of OpenVEX have the time of their document instead (OpenVEX 0.2.0, "timestamp").
 */
export function saidTime({ record, statement }: SaidStatement): number | undefined {
  const { format, publishTime, modifyTime } = record;
  const inherited = format === RecordFormat.OPENVEX ? (publishTime ?? modifyTime) : (modifyTime ?? publishTime);
  const time = statement.time ?? inherited;
  return time && fromTimestamp(time);
}

/** Returns the records, each with only its statements that are about an advisory and that no later statement of its source replaces. */
export function holdingRecords(advisoryId: string, records: readonly AdvisoryRecord[]): AdvisoryRecord[] {
  const said = records.flatMap((record) =>
    record.statements
      // A record that gave the advisory its public id contributes its statements on other products, too.
      .filter(({ advisoryId: id }) => id === "" || id === advisoryId)
      .map((statement) => ({ record, statement })),
  );
  const held = Map.groupBy(holdingStatements(said), ({ record }) => record);
  return records.map((record) => ({
    ...record,
    statements: (held.get(record) ?? []).map(({ statement }) => statement),
  }));
}

function scopeOf({ record, statement }: SaidStatement): string {
  const { release, subcomponents, versions, ranges } = statement;
  return JSON.stringify([
    record.source,
    release,
    subcomponents.toSorted(),
    versions.toSorted(),
    ranges.map(textOfRange).toSorted(),
  ]);
}

function textOfRange({ type, repo, events }: VersionRange): string {
  return JSON.stringify([type, repo, events.map((event) => [event.type, event.version])]);
}
