// Merges several OSV records with one id. The statements of each count.
import { isJsonObject, type JsonObject, scalarText } from "../../base/json.ts";
import { canonicalJson } from "../extra.ts";
import { parseTime } from "../times.ts";
import { type Loss, unique } from "./entries.ts";

/** Members whose items add up. */
const lists: readonly string[] = ["aliases", "upstream", "related", "severity", "affected", "references", "credits"];

/** Merges the records. Where OSV has room for one value only, that of the record that was modified last counts. */
export function mergeRecords(records: readonly JsonObject[], loss: Loss): JsonObject {
  const [first, ...others] = unique(records).sort(
    (a, b) => timeOf(b.modified) - timeOf(a.modified) || (canonicalJson(a) < canonicalJson(b) ? -1 : 1),
  );
  if (!first || others.length === 0) return first ?? {};
  const all = withOwnSeverities([first, ...others]);
  const merged: Record<string, unknown> = Object.fromEntries(
    all.toReversed().flatMap((record) => Object.entries(record)),
  );
  for (const name of lists) {
    const items = all.flatMap((record) => listOf(record[name]));
    if (items.length > 0) merged[name] = [...new Map(items.map((item) => [canonicalJson(item), item])).values()];
    else delete merged[name];
  }
  const published = all.map((record) => record.published).filter((time) => time !== undefined);
  if (published.length > 0) merged.published = published.reduce((a, b) => (timeOf(b) < timeOf(a) ? b : a));
  for (const record of others) reportOthers(record, merged, loss);
  return merged;
}

/** Counts the single-valued members of OSV for which the records have different values. */
function reportOthers(record: JsonObject, merged: JsonObject, loss: Loss): void {
  for (const [name, value] of Object.entries(record)) {
    const isOne = !lists.includes(name) && !["modified", "published", "schema_version"].includes(name);
    if (isOne && canonicalJson(value) !== canonicalJson(merged[name])) loss(`a second ${name} of a record`);
  }
}

/**
 * Severities are those of the record or those of the packages, not both (OSV §severity). Those of a record go to its
 * packages, unless all records agree.
 */
function withOwnSeverities(records: readonly JsonObject[]): JsonObject[] {
  const isByPackage = records.some(({ affected }) =>
    listOf(affected).some((item) => isJsonObject(item) && item.severity),
  );
  const kinds = new Set(records.map(({ severity }) => canonicalJson(severity)));
  if (!isByPackage && kinds.size === 1) return [...records];
  return records.map(({ severity, ...record }) => {
    if (severity === undefined) return record;
    const items = listOf(record.affected).filter(isJsonObject);
    // A record without packages has no other place for it.
    if (items.length === 0) return isByPackage ? record : { ...record, severity };
    return { ...record, affected: items.map((item) => ({ severity, ...item })) };
  });
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function timeOf(value: unknown): number {
  return parseTime(scalarText(value))?.milliseconds ?? 0;
}
