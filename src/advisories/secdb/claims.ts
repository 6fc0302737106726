// What advisories say in the words of a security database: a fix in a version, or that a package is not affected.
import {
  type AdvisoryRecord,
  type AdvisoryStatements,
  type ProductStatement,
  RangeEventType,
  RecordFormat,
  type VersionRange,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { scalarText } from "../../json.ts";
import { parseExtra } from "../extra.ts";
import { stateOf } from "../osv/states.ts";
import { readPurl } from "../purl.ts";
import { compareApk } from "../versions/apk.ts";
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
  readonly entries: readonly string[];
  /** The header of the database that it was read from; empty for other formats. */
  readonly header: string;
}

/** Counts something that a database cannot say. */
type Loss = (what: string) => void;

/** What an advisory says. */
export function claimsOf({ advisory, records }: AdvisoryStatements, loss: Loss): Claim[] {
  const advisoryId = advisory?.advisoryId ?? "";
  const ids = idsOf(advisoryId, advisory?.aliases ?? [], loss);
  return records.flatMap((record) => {
    if (record.withdrawTime) loss("a record that its source withdrew");
    if (record.withdrawTime) return [];
    if (record.format !== RecordFormat.SECDB) countUnsaid(record, loss);
    const own = record.statements.filter((each) => each.advisoryId === "" || each.advisoryId === advisoryId);
    return own.flatMap((statement) => statementClaims(advisoryId, ids, record, statement, loss));
  });
}

/** Counts what a database has no place for, whatever the status. */
function countUnsaid({ severities, references, summary, details, statements }: AdvisoryRecord, loss: Loss): void {
  if (severities.length > 0 || statements.some((each) => each.severities.length > 0)) loss("a severity");
  if (references.length > 0) loss("a reference");
  if (summary + details !== "") loss("a description");
  // The parts in a log tell where something was found, not what its last event is about.
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
    ...{ advisoryId, record, header, distribution: purl.namespace, release: statement.release, name: purl.name },
    ...{ repository: scalarText(reponame), architecture: purl.qualifiers.get("arch") ?? "" },
  };
  const entries = (extra: string) => (isOwn ? entriesIn(extra, record.vulnerability) : ids);
  return versionsOf(statement, loss).map(([version, extra]) => ({ ...common, version, entries: entries(extra) }));
}

/** The versions of a statement, each with the extra that has its entries. */
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
      if (state.versions.length > 0) loss("an affected version");
      if (state.ranges.length === 0) loss("an affected package without a fix");
      return state.ranges.length === 0 ? [["", ""]] : state.ranges.flatMap((range) => fixesOfRange(range, loss));
    default:
      loss(state.what);
      return state.isOpen ? [["", ""]] : [];
  }
}

function fixesOfRange(
  { type, events, extra }: VersionRange,
  loss: Loss,
): (readonly [version: string, extra: string])[] {
  if (type === "GIT") loss("a range of commits");
  if (type === "GIT") return [["", ""]];
  const { INTRODUCED, FIXED } = RangeEventType;
  if (events.some((event) => event.type === INTRODUCED && event.version !== "0")) loss("the first affected version");
  if (events.some((event) => event.type !== INTRODUCED && event.type !== FIXED)) loss("the last affected version");
  const fixes = events.filter((event) => event.type === FIXED).map(({ version }) => version);
  if (fixes.length === 0) loss("an affected package without a fix");
  return fixes.length === 0 ? [["", ""]] : fixesIn(fixes, extra, loss);
}

/** A version with blanks would be several words. A fix in "0" says that no version is affected. */
function fixesIn(versions: readonly string[], extra: string, loss: Loss): (readonly [string, string])[] {
  const good = versions.filter((version) => /^\S+$/.test(version));
  if (good.length < versions.length) loss("a version with blanks");
  return good.map((version) => [version, extra]);
}
