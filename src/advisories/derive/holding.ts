// Which statements about a product still hold: those that their own source has not superseded.

import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type {
  AdvisoryRecord,
  ProductStatement,
  VersionRange,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { fromTimestamp } from "../../aip/timestamps.ts";

/** A statement, and the record that has it. */
export interface SaidStatement {
  readonly record: AdvisoryRecord;
  readonly statement: ProductStatement;
}

/**
 * The statements about one product that hold. Within one source a later statement supersedes an earlier one on the same release,
 * subcomponents and versions; everything else holds at the same time. Statements whose source says no time supersede nothing.
 */
export function holdingStatements<S extends SaidStatement>(said: readonly S[]): S[] {
  const latest = new Map<string, number>();
  const dated = said.map((each) => ({ each, scope: scopeOf(each), time: saidTime(each) }));
  for (const { scope, time } of dated)
    if (time !== undefined) latest.set(scope, Math.max(time, latest.get(scope) ?? time));
  return dated.filter(({ scope, time }) => time === undefined || time === latest.get(scope)).map(({ each }) => each);
}

/** When a source said a statement, as far as it tells: a document that was changed says again what it still has. */
function saidTime({ record, statement }: SaidStatement): number | undefined {
  const time: Timestamp | undefined = statement.time ?? record.modifyTime ?? record.publishTime;
  return time && fromTimestamp(time);
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
