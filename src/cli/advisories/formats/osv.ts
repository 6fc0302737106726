// OSV: https://ossf.github.io/osv-schema/. A record is one vulnerability, with the packages that it affects.
import {
  AdvisoryEvent_FalsePositiveDetermination_Type as Reason,
  Severity_Type,
} from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { isJsonObject, type JsonObject } from "../../../json.ts";
import { maxItems } from "../../../pipeline/rule-book.ts";
import { derivedId } from "../../../services/vulnerabilities/advisory-fields.ts";
import { isTrue, list, members, requiredText, text, texts, time } from "../document.ts";
import { componentOfEcosystem } from "../libraries.ts";
import { parsePurl } from "../purl.ts";
import type { Parsed, Reader } from "../reader.ts";
import type { Artifact, Component, EventType, Found, SeverityInit } from "../record.ts";
import { falsePositive, fixedIn, noted, reasonWords } from "../statuses.ts";

/** Whether a document is a record, or a list of records: one that is wrong does not make it another document. */
export function isOsv(document: unknown): boolean {
  const items: readonly unknown[] = Array.isArray(document) ? document : [document];
  // What our own export writes of a group without advisories.
  if (items.length === 0) return true;
  return items.some((each) => isJsonObject(each) && typeof each.id === "string" && typeof each.modified === "string");
}

/** Whether a document is the index of a feed, which names records and holds none. */
export function isOsvIndex(document: unknown): boolean {
  const isEntry = (entry: unknown) =>
    isJsonObject(entry) && Object.keys(entry).every((name) => name === "id" || name === "modified");
  return Array.isArray(document) && document.length > 0 && document.every(isEntry);
}

/** Reads a record, or a list of records. */
export const readOsv: Reader = function* (document, options) {
  for (const record of Array.isArray(document) ? document : [document]) {
    const id = isJsonObject(record) && typeof record.id === "string" ? record.id : "";
    yield { name: id, read: () => readRecord(members(record, "a record"), options.author || "osv") };
  }
};

function readRecord(record: JsonObject, author: string): Parsed {
  const id = idOf(record);
  const modified = time(record.modified, "modified");
  if (modified === undefined) requiredText(undefined, "modified");
  const published = time(record.published, "published");
  const withdrawn = time(record.withdrawn, "withdrawn");
  const aliases = aliasesOf(record, id);
  const severities = severitiesOf(record.severity);
  const affected = packagesOf(record);
  const common = { author, published, modified, withdrawn };
  // What else the record affects gets ids of its own, made from the record's.
  const others = affected.slice(1).map(({ artifact }) => derivedId(artifact, id));
  const first = { id, aliases, ...(others.length <= maxItems ? { parts: others } : {}) };
  if (affected.length === 0) {
    return [{ ...common, ...first, severities, artifact: { name: "", type: "" }, events: [] }];
  }
  return affected.map((each, i): Found => {
    const { artifact, component, types, severities: own } = each;
    // A record says what is so, and not since when.
    const events = types.map((type) => ({ time: undefined, type }));
    const about = { ...common, artifact, ...(component ? { component } : {}), events, origin: artifact.name };
    const said = { ...about, severities: own.length > 0 ? own : severities };
    return i === 0 ? { ...said, ...first } : { ...said, id: others[i - 1]!, partOf: id, aliases: [id, ...aliases] };
  });
}

/** Our own records of databases that OSV has not registered have `x_` before the id, which is among the related ones. */
function idOf(record: JsonObject): string {
  const id = requiredText(record.id, "id");
  const own = id.slice("x_".length);
  return id.startsWith("x_") && list(record.related, "related").includes(own) ? own : id;
}

/** A feed of this kind has the ids of the vulnerability among the related ones. */
function aliasesOf(record: JsonObject, id: string): string[] {
  const related = id.startsWith("CGA-")
    ? list(record.related, "related").filter((item) => typeof item === "string")
    : [];
  return [...texts(record.aliases, "aliases"), ...texts(record.upstream, "upstream"), ...(related as string[])];
}

const scales: ReadonlyMap<string, Severity_Type> = new Map([
  ["CVSS_V2", Severity_Type.CVSS_V2],
  ["CVSS_V3", Severity_Type.CVSS_V3],
  ["CVSS_V4", Severity_Type.CVSS_V4],
]);

function severitiesOf(value: unknown): SeverityInit[] {
  return list(value, "severity").map((item) => {
    const { type, score } = members(item, "an item of severity");
    return { type: scales.get(text(type, "type")) ?? Severity_Type.UNSPECIFIED, score: text(score, "score") };
  });
}

/** One package of a record and what became of it. */
interface Affected {
  readonly artifact: Artifact;
  readonly component: Component | undefined;
  readonly types: readonly EventType[];
  readonly severities: readonly SeverityInit[];
}

/** Packages of a distribution to which the same happened are built from one; the first stands for all. */
function packagesOf(record: JsonObject): Affected[] {
  const found = new Map<string, { readonly first: Affected; readonly types: Map<string, EventType> }>();
  for (const item of list(record.affected, "affected")) {
    const each = affectedOf(members(item, "an item of affected"));
    const isLibrary = each.component !== undefined;
    const key = JSON.stringify([each.artifact.type, isLibrary ? each.artifact.name : "", isLibrary ? "" : each.types]);
    const known = found.get(key) ?? { first: each, types: new Map() };
    found.set(key, known);
    // A library may be named several times, once for each of its branches.
    for (const type of each.types) known.types.set(JSON.stringify(type), type);
  }
  return [...found.values()].map(({ first, types }) => ({ ...first, types: [...types.values()] }));
}

function affectedOf(item: JsonObject): Affected {
  const ranges = list(item.ranges, "ranges").map((range) => members(range, "a range"));
  const { artifact, component } = artifactOf(item, ranges);
  return { artifact, component, types: typesOf(ranges, item), severities: severitiesOf(item.severity) };
}

/** Which ecosystems are distributions, by what their packages are. */
const distributions: readonly (readonly [RegExp, string])[] = [
  [/^(Alpine|Chainguard|Wolfi|MinimOS|Alpaquita|BellSoft)/, "apk"],
  [/^(Debian|Ubuntu|Echo)/, "deb"],
  [/^(AlmaLinux|Azure Linux|Mageia|openEuler|openSUSE|Photon|Red Hat|Rocky|SUSE)/, "rpm"],
];

function artifactOf(item: JsonObject, ranges: readonly JsonObject[]): Pick<Affected, "artifact" | "component"> {
  if (item.package === undefined || item.package === null) {
    const repo = ranges.map(({ repo: address }) => text(address, "repo")).find((address) => address !== "");
    return { artifact: { name: repo ?? "", type: "source" }, component: undefined };
  }
  const { ecosystem, name, purl } = members(item.package, "package");
  const system = requiredText(ecosystem, "package.ecosystem");
  const artifactName = requiredText(name, "package.name");
  const [base = ""] = system.split(":");
  const kind = distributions.find(([pattern]) => pattern.test(base))?.[1];
  if (kind) {
    const architecture = parsePurl(text(purl, "package.purl"))?.qualifiers.get("arch") ?? "";
    return { artifact: { name: artifactName, type: kind, architecture }, component: undefined };
  }
  const type = componentOfEcosystem(base);
  return { artifact: { name: artifactName, type: "library" }, component: { name: artifactName, type } };
}

/** What became of a package: it was never affected, it was fixed, or it is affected. */
function typesOf(ranges: readonly JsonObject[], item: JsonObject): EventType[] {
  const versioned = ranges.filter(({ type }) => type !== "GIT");
  const marks = (versioned.length > 0 ? versioned : ranges).flatMap(({ events }) =>
    list(events, "events").map((event) => members(event, "an event")),
  );
  const mark = [...ranges, item].map(({ database_specific: own }) => own).find(isFalsePositive);
  const fixes = [...new Set(marks.map(({ fixed }) => text(fixed, "fixed")).filter((version) => version !== ""))];
  if (mark || (fixes.length === 1 && fixes[0] === "0")) return [falsePositive(reasonIn(mark))];
  if (fixes.length > 0) return fixes.map(fixedIn);
  const last = marks
    .map(({ last_affected: version }) => text(version, "last_affected"))
    .find((version) => version !== "");
  return [noted("truePositiveDetermination", last === undefined ? "" : `last affected: ${last}`)];
}

function isFalsePositive(specific: unknown): specific is JsonObject {
  if (!isJsonObject(specific)) return false;
  const { false_positive: mark } = specific;
  return isTrue(mark) || (typeof mark === "string" && reasonWords.has(mark)) || isJsonObject(mark);
}

function reasonIn(specific: JsonObject | undefined): Reason {
  const { false_positive: mark, reason } = specific ?? {};
  const word = [reason, mark].find((value) => typeof value === "string" && reasonWords.has(value));
  return reasonWords.get(String(word)) ?? Reason.UNSPECIFIED;
}
