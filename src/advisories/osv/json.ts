// Records as JSON of OSV (https://ossf.github.io/osv-schema/). What only OSV can say comes from `extra`, which wins.
import {
  type AdvisoryRecord,
  type Product,
  type ProductStatement,
  type RangeEvent,
  RangeEventType,
  type RecordReference,
  type RecordSeverity,
  type VersionRange,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { parseExtra } from "../extra.ts";
import { timestampText } from "../times.ts";

/** The kinds of events in a range. */
export const eventNames = [
  ["introduced", RangeEventType.INTRODUCED],
  ["fixed", RangeEventType.FIXED],
  ["last_affected", RangeEventType.LAST_AFFECTED],
  ["limit", RangeEventType.LIMIT],
] as const;

/** Returns a record that came from OSV, as it was. */
export function recordJson(record: AdvisoryRecord): JsonObject {
  const { publishTime, modifyTime, withdrawTime } = record;
  return withExtra(
    {
      schema_version: undefined,
      id: record.advisoryId,
      modified: modifyTime && timestampText(modifyTime),
      published: publishTime && timestampText(publishTime),
      withdrawn: withdrawTime && timestampText(withdrawTime),
      aliases: unlessEmpty(record.aliases),
      upstream: unlessEmpty(record.upstream),
      related: unlessEmpty(record.related),
      summary: unlessEmpty(record.summary),
      details: unlessEmpty(record.details),
      severity: unlessEmpty(record.severities.map(severityJson)),
      affected: unlessEmpty(record.statements.map(affectedJson)),
      references: unlessEmpty(record.references.map(referenceJson)),
    },
    parseExtra(record.extra),
  );
}

/** Returns the time of the last change of a record from OSV, in its original spelling. */
export function modifiedOf({ modifyTime, extra }: AdvisoryRecord): string {
  return String(parseExtra(extra).modified ?? (modifyTime && timestampText(modifyTime)));
}

/** Returns a severity. */
export function severityJson({ type, score }: RecordSeverity): JsonObject {
  return { type, score };
}

/** Returns a reference. */
export function referenceJson({ type, url }: RecordReference): JsonObject {
  return type === "" ? { url } : { type, url };
}

/** Returns an event of a range. */
export function eventJson({ type, version }: RangeEvent): JsonObject {
  const [name = ""] = eventNames.find(([, each]) => each === type) ?? [];
  return { [name]: version };
}

/** Returns a range. */
export function rangeJson({ type, repo, events, extra }: VersionRange): JsonObject {
  return withExtra(
    { type: unlessEmpty(type), repo: unlessEmpty(repo), events: events.map(eventJson) },
    parseExtra(extra),
  );
}

/** Returns the OSV form of a statement whose record was imported from OSV. */
export function affectedJson({ product, release, ...statement }: ProductStatement): JsonObject {
  const { package: more, ...extra } = parseExtra(statement.extra);
  return withExtra(
    {
      package: packageJson(product, release, more),
      severity: unlessEmpty(statement.severities.map(severityJson)),
      ranges: unlessEmpty(statement.ranges.map(rangeJson)),
      versions: unlessEmpty(statement.versions),
    },
    extra,
  );
}

/** The product of a record without a package is a repository, which its ranges name. */
function packageJson(product: Product | undefined, release: string, more: unknown): JsonObject | undefined {
  const { ecosystem = "", name = "" } = product ?? {};
  if (ecosystem === "" && !isJsonObject(more)) return undefined;
  const whole = release === "" ? ecosystem : `${ecosystem}:${release}`;
  return withExtra({ ecosystem: unlessEmpty(whole), name: unlessEmpty(name) }, isJsonObject(more) ? more : {});
}

/** Members, with those of `extra` in their place; null there means that OSV did not say it. */
function withExtra(members: JsonObject, extra: JsonObject): JsonObject {
  const all = Object.entries({ ...members, ...extra });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined && value !== null));
}

function unlessEmpty<T extends string | readonly unknown[]>(value: T): T | undefined {
  return value.length === 0 ? undefined : value;
}
