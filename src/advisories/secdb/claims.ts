// Translates advisories to the terms of a security database: a fix in a version, or a package that is not affected.
import {
  type AdvisoryRecord,
  type AdvisoryStatements,
  type ProductStatement,
  RangeEventType,
  RecordFormat,
  type VersionRange,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { scalarText } from "../../base/json.ts";
import { holdingRecords } from "../derive/holding.ts";
import { parseExtra } from "../extra.ts";
import { type State, stateOf } from "../osv/states.ts";
import { readPurl } from "../purl.ts";
import { compareApk } from "../versions/apk.ts";
import { eventsInOrder } from "../versions/ranges.ts";
import { entriesIn } from "./read.ts";

/** Something that is said of a package. */
export interface Claim {
  readonly advisoryId: string;
  readonly record: AdvisoryRecord;
  /** Each empty where nobody says it. */
  readonly distribution: string;
  readonly release: string;
  readonly repository: string;
  readonly architecture: string;
  /** The name of the package. */
  readonly name: string;
  /** The version with the fix; "0" when the package is not affected, empty when a version may be affected that has no fix. */
  readonly version: string;
  /** Whether the version is empty because some version without a fix is affected: no fix ends that. */
  readonly isUnfixed: boolean;
  /** The ids by which other claims are about the same vulnerability. */
  readonly ids: readonly string[];
  readonly entries: readonly string[];
  /** The header of the database that it was read from; empty for other formats. */
  readonly header: string;
}

/** Counts something that a database cannot say. */
type Loss = (what: string) => void;

type Affected = Extract<State, { kind: "affected" }>;

/** Returns the claims of an advisory. */
export function claimsOf({ advisory, records }: AdvisoryStatements, loss: Loss): Claim[] {
  const advisoryId = advisory?.advisoryId ?? "";
  const ids = idsOf(advisoryId, advisory?.aliases ?? [], loss);
  const live = records.filter(({ withdrawTime }) => !withdrawTime);
  for (const { withdrawTime } of records) if (withdrawTime) loss("a record that its source withdrew");
  return holdingRecords(advisoryId, live).flatMap((record) => {
    if (record.format !== RecordFormat.SECDB) countUnsaid(record, loss);
    return record.statements.flatMap((statement) => statementClaims(advisoryId, ids, record, statement, loss));
  });
}

/** Counts data that a database has no place for, for any status. */
function countUnsaid({ severities, references, summary, details, statements }: AdvisoryRecord, loss: Loss): void {
  if (severities.length > 0 || statements.some((each) => each.severities.length > 0)) loss("a severity");
  if (references.length > 0) loss("a reference");
  if (summary + details !== "") loss("a description");
  // The parts in a log are the places of detections, not the subject of its last event.
  if (statements.some(({ subcomponents, events }) => subcomponents.length > 0 && events.length === 0))
    loss("the parts that a status is about");
}

/** Scanners look for ids of vulnerabilities: those that Gatehouse has made stand for an advisory without any. */
function idsOf(advisoryId: string, aliases: readonly string[], loss: Loss): string[] {
  const all = [...new Set([...(advisoryId.startsWith("CGA-") ? [] : [advisoryId]), ...aliases])];
  const ids = all.filter((id) => /^\S+$/.test(id));
  if (ids.length < all.length) loss("an id with blanks");
  return ids.length === 0 ? [advisoryId] : ids;
}

function statementClaims(
  advisoryId: string,
  ids: readonly string[],
  record: AdvisoryRecord,
  statement: ProductStatement,
  loss: Loss,
): Claim[] {
  const purl = readPurl(statement.product?.purl ?? "");
  if (purl?.type !== "apk") {
    loss("a product that is not an apk package");
    return [];
  }
  const isOwn = record.format === RecordFormat.SECDB;
  const header = isOwn ? record.extra : "";
  const { reponame = "" } = parseExtra(header);
  const common = {
    advisoryId,
    record,
    header,
    distribution: purl.namespace,
    release: statement.release,
    name: purl.name,
    repository: scalarText(reponame),
    architecture: purl.qualifiers.get("arch") ?? "",
  };
  const entries = (extra: string) => (isOwn ? entriesIn(extra, record.vulnerability) : ids);
  const isAffected = stateOf(statement).kind === "affected";
  return versionsOf(statement, loss).map(([version, extra]) => ({
    ...common,
    version,
    isUnfixed: version === "" && isAffected,
    entries: entries(extra),
    ids: isOwn ? [record.vulnerability] : ids,
  }));
}

/** Returns the versions of a statement, each with the extra that has its entries. */
function versionsOf(statement: ProductStatement, loss: Loss): (readonly [version: string, extra: string])[] {
  const state = stateOf(statement);
  switch (state.kind) {
    case "none":
      if (state.reason + state.justification !== "") loss("the reason why a package is not affected");
      return [["0", statement.extra]];
    case "fixed": {
      const first = state.versions.toSorted((a, b) => compareApk(a, b) ?? 0)[0]!;
      if (new Set(state.versions).size > 1) loss("a later version with the fix");
      return fixesIn([first], "", loss);
    }
    case "affected":
      return affectedVersions(state, loss);
    default:
      loss(state.what);
      return state.isOpen ? [["", ""]] : [];
  }
}

/** Returns the fixes, if every affected version comes before one. A database says of all versions from a fix on that they have it. */
function affectedVersions({ versions, ranges }: Affected, loss: Loss): (readonly [version: string, extra: string])[] {
  if (versions.length > 0) loss("an affected version");
  const versioned = ranges.filter(({ type }) => type !== "GIT");
  if (versioned.length < ranges.length) loss("a range of commits");
  // Next to ranges of versions, those of commits repeat the same.
  if (versioned.length === 0 && ranges.length > 0) return [["", ""]];
  const fixes = versioned.flatMap((range) => fixesOfRange(range, loss));
  const isBeforeFix = (version: string) => fixes.some(([fix]) => (compareApk(version, fix) ?? 0) < 0);
  if (fixes.some(([fix]) => fix === "") || !versions.every(isBeforeFix) || fixes.length === 0) {
    loss("an affected package without a fix");
    return [["", ""]];
  }
  return fixes.flatMap(([fix, extra]) => fixesIn([fix], extra, loss));
}

/** Returns the versions with a fix in a range; an empty one if the range goes on behind them, or ends without a fix. */
function fixesOfRange(range: VersionRange, loss: Loss): (readonly [version: string, extra: string])[] {
  const { events, extra } = range;
  const { INTRODUCED, FIXED } = RangeEventType;
  if (events.some((event) => event.type === INTRODUCED && event.version !== "0")) loss("the first affected version");
  const isOther = events.some((event) => event.type !== INTRODUCED && event.type !== FIXED);
  if (isOther) loss("the last affected version");
  const last = (eventsInOrder(range, compareApk) ?? events).at(-1);
  if (isOther || last?.type !== FIXED) return [["", ""]];
  return events.filter((event) => event.type === FIXED).map(({ version }) => [version, extra]);
}

/** A version with blanks would be several words. A fix in "0" says that no version is affected. */
function fixesIn(versions: readonly string[], extra: string, loss: Loss): (readonly [string, string])[] {
  const good = versions.filter((version) => /^\S+$/.test(version));
  if (good.length < versions.length) loss("a version with blanks");
  return good.map((version) => [version, extra]);
}
