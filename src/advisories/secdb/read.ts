// Reads the security databases of Alpine and of distributions like it: which version of a package fixed which vulnerability.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  type Product,
  ProductSchema,
  type ProductStatementSchema,
  ProductStatus,
  RangeEventType,
  RecordFormat,
  type VersionRangeSchema,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { isJsonObject, RepeatedMember } from "../../base/json.ts";
import { isNothing, objectRule, Problems, textRule } from "../document.ts";
import { extraOf, parseExtra } from "../extra.ts";
import { parseProduct } from "../product.ts";
import type { Problem, Reader, ReadItem } from "../reading.ts";
import { type Database, readDatabase } from "./database.ts";
import { type EntryVulnerability, parseEntry } from "./entry.ts";

/** The maximum number of vulnerabilities of an entry: each has a record, which names all others. */
const idsPerEntry = 100;

/** Reads a database. Its statement on one vulnerability in one package becomes a record. */
export const readSecdb: Reader = (document, { source }) => {
  const problems = new Problems();
  const database = readDatabase(document, problems);
  return { items: itemsOf(database, source || "secdb", problems.list()) };
};

/** A problem of the database or of a package belongs to the first record behind it. */
function* itemsOf(database: Database, source: string, ofDatabase: readonly Problem[]): Generator<ReadItem> {
  let open = ofDatabase;
  const packages = new Map<string, Package>();
  for (const [i, item] of database.packages.entries()) {
    const problem = addPackage(packages, item, `packages[${i}]`);
    if (problem) yield { name: "", record: undefined, problems: [problem] };
  }
  for (const each of packages.values()) {
    const { fixes, problems, lost } = fixesOf(each);
    for (const problem of lost) yield { name: each.name, record: undefined, problems: [problem] };
    open = [...open, ...problems];
    for (const fix of fixes) {
      const record = recordOf(database, source, each.name, fix);
      yield { name: `${each.name} ${fix.id}`, record, problems: [...open, ...fix.problems.list()] };
      open = [];
    }
    if (fixes.length > 0 || problems.length === 0) continue;
    yield { name: each.name, record: undefined, problems: open };
    open = [];
  }
}

/** A package of the database with all its `secfixes`. The database may list a package several times. */
interface Package {
  readonly name: string;
  readonly secfixes: unknown[];
}

function addPackage(packages: Map<string, Package>, item: unknown, path: string): Problem | undefined {
  if (!isJsonObject(item)) return { path, rule: objectRule(item) };
  const { pkg } = item;
  if (!isJsonObject(pkg)) return { path: `${path}.pkg`, rule: objectRule(pkg) };
  const { name, secfixes } = pkg;
  if (typeof name !== "string" || name.trim() === "") return { path: `${path}.pkg.name`, rule: "must be a text" };
  if (textRule(name) !== "") return { path: `${path}.pkg.name`, rule: textRule(name) };
  const known = packages.get(name.trim()) ?? { name: name.trim(), secfixes: [] };
  packages.set(known.name, known);
  known.secfixes.push(secfixes);
  return undefined;
}

/** The versions of a package that fix one vulnerability. */
interface Fix {
  readonly id: string;
  readonly aliases: Set<string>;
  readonly related: Set<string>;
  /** The entries of each version that names it, as they are written. */
  readonly versions: Map<string, Set<string>>;
  readonly problems: Problems;
}

/** The fixes of a package, with the problems found. */
interface Fixes {
  readonly fixes: readonly Fix[];
  /** The problems that belong to none of them. */
  readonly problems: readonly Problem[];
  /** Members that cannot be read and may name vulnerabilities: each is a record that is left out. */
  readonly lost: readonly Problem[];
}

function fixesOf({ secfixes }: Package): Fixes {
  const fixes = new Map<string, Fix>();
  const [problems, lost] = [new Problems(), new Problems()];
  for (const [version, path, text] of entriesOf(secfixes, lost)) {
    const { vulnerabilities, remarks } = parseEntry(text);
    if (vulnerabilities.length > idsPerEntry) {
      lost.add(path, `must not name more than ${idsPerEntry} vulnerabilities`);
      continue;
    }
    const rule = `has words that are not ids: ${JSON.stringify(remarks.join(" ").slice(0, 100))}`;
    for (const [i, vulnerability] of vulnerabilities.entries()) {
      const fix = addFix(fixes, vulnerability, version, text);
      if (i === 0 && remarks.length > 0) fix.problems.add(path, rule);
    }
    if (vulnerabilities.length === 0) problems.add(path, remarks.length > 0 ? rule : "is empty");
  }
  return { fixes: [...fixes.values()], problems: problems.list(), lost: lost.list() };
}

function addFix(fixes: Map<string, Fix>, { id, aliases, related }: EntryVulnerability, version: string, text: string) {
  const known: Fix = fixes.get(id) ?? {
    id,
    aliases: new Set(),
    related: new Set(),
    versions: new Map(),
    problems: new Problems(),
  };
  fixes.set(id, known);
  for (const alias of aliases) known.aliases.add(alias);
  for (const other of related) known.related.add(other);
  known.versions.set(version, (known.versions.get(version) ?? new Set()).add(text));
  return known;
}

/** Returns the entries of a package with their versions and paths. */
function* entriesOf(
  secfixes: readonly unknown[],
  problems: Problems,
): Generator<readonly [version: string, path: string, text: string]> {
  for (const each of secfixes) {
    // The libraries of some languages write an empty object as an empty list.
    if (isNothing(each) || (Array.isArray(each) && each.length === 0)) continue;
    // Old databases of Alpine have versions twice: both lists hold.
    const entries =
      each instanceof RepeatedMember ? each.entries : isJsonObject(each) ? Object.entries(each) : undefined;
    if (entries) yield* versionEntries(entries, problems);
    else problems.add("secfixes", "must be an object");
  }
}

function* versionEntries(
  secfixes: RepeatedMember["entries"],
  problems: Problems,
): Generator<readonly [version: string, path: string, text: string]> {
  for (const [key, value] of secfixes) {
    const [version, path] = [key.trim(), `secfixes.${key}`];
    if (isNothing(value)) continue;
    if (version === "") problems.add(path, "must have a version");
    else if (textRule(version) !== "") problems.add("secfixes", `has a version that ${textRule(version)}`);
    else if (typeof value === "string") yield* entryTexts(version, [[path, value]], problems);
    else if (!Array.isArray(value)) problems.add(path, "must be a list");
    else
      yield* entryTexts(
        version,
        value.map((entry, i) => [`${path}[${i}]`, entry]),
        problems,
      );
  }
}

function* entryTexts(
  version: string,
  entries: readonly (readonly [path: string, entry: unknown])[],
  problems: Problems,
): Generator<readonly [version: string, path: string, text: string]> {
  for (const [path, entry] of entries) {
    const rule = textRule(entry);
    if (rule === "") yield [version, path, (entry as string).trim()];
    else problems.add(path, rule);
  }
}

function recordOf(database: Database, source: string, name: string, fix: Fix): AdvisoryRecord {
  const { distribution, release, header } = database;
  const { id, aliases, related, versions } = fix;
  const product = productOf(distribution, name);
  const statements: MessageInitShape<typeof ProductStatementSchema>[] = [];
  const { NOT_AFFECTED, AFFECTED } = ProductStatus;
  const none = versions.get("0");
  if (none) statements.push({ product, release, status: NOT_AFFECTED, extra: entriesExtra(id, none) });
  const ranges = [...versions].filter(([version]) => version !== "0").map((each) => rangeOf(id, ...each));
  if (ranges.length > 0) statements.push({ product, release, status: AFFECTED, ranges });
  return create(AdvisoryRecordSchema, {
    source,
    document: documentOf(database, name),
    vulnerability: id,
    format: RecordFormat.SECDB,
    aliases: [...aliases],
    related: [...related],
    statements,
    extra: header,
  });
}

/** Releases, repositories and distributions differ; the name of a repository may have a slash. */
function documentOf({ distribution, release, repository }: Database, name: string): string {
  return [distribution, release, repository, name].map(encodeURIComponent).join("/");
}

function productOf(distribution: string, name: string): Product {
  const purl = `pkg:apk/${[distribution, name]
    .filter((part) => part !== "")
    .map(encodeURIComponent)
    .join("/")}`;
  return create(ProductSchema, { purl: parseProduct(purl)?.product.purl ?? "", name });
}

/** The first version with the fix ends the range; nothing is said of when it begins. */
function rangeOf(id: string, version: string, entries: Set<string>): MessageInitShape<typeof VersionRangeSchema> {
  const { INTRODUCED, FIXED } = RangeEventType;
  const events = [
    { type: INTRODUCED, version: "0" },
    { type: FIXED, version },
  ];
  return { type: "ECOSYSTEM", events, extra: entriesExtra(id, entries) };
}

/** Returns the entries as they are written, unless they are the id alone. */
function entriesExtra(id: string, entries: ReadonlySet<string>): string {
  const texts = [...entries].sort();
  return texts.length === 1 && texts[0] === id ? "" : extraOf({ entries: texts });
}

/** Returns the entries of a statement or a range about a vulnerability, as they were written. */
export function entriesIn(extra: string, id: string): readonly string[] {
  const { entries } = parseExtra(extra);
  return Array.isArray(entries) ? entries.filter((entry) => typeof entry === "string") : [id];
}
